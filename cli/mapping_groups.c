/* mapping_groups.c: which mappings of a profile are the same piece of a file.
 *
 * Sorting brings equal mappings together. Only where that gives a group of several do the samples
 * have to be looked at, for which mapping comes first. */
#include "cli/mapping_groups.h"

#include "proto/arena.h"
#include "proto/profile.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

struct mapping_groups {
    const struct profile_mapping **first; /* by mapping index */
};

struct member {
    const struct profile_mapping *mapping;
    uint64_t size; /* in whole pages */
    const char *file_id;
    uint32_t rank; /* order of first use */
};

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Equal texts of a profile are the same pointer, so addresses order them well enough. */
static int compare_keys(const struct member *a, const struct member *b)
{
    int order = compare(a->size, b->size);
    if (order == 0)
        order = compare(a->mapping->file_offset, b->mapping->file_offset);
    if (order == 0)
        order = compare((uintptr_t)a->file_id, (uintptr_t)b->file_id);
    return order;
}

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    int order = compare_keys(a, b);
    return order != 0 ? order : compare(a->rank, b->rank);
}

static struct member member_of(const struct profile_mapping *mapping)
{
    uint64_t size = mapping->memory_limit - mapping->memory_start + PAGE_BYTES - 1;
    return (struct member){
        .mapping = mapping,
        .size = size - size % PAGE_BYTES,
        .file_id = mapping->build_id[0] != '\0' ? mapping->build_id : mapping->filename,
        .rank = UINT32_MAX,
    };
}

static bool is_zero(const struct profile_sample *sample, uint32_t value_count)
{
    for (uint32_t i = 0; i < value_count; i++)
        if (sample->values[i] != 0)
            return false;
    return true;
}

/* By mapping index, when it is first used: the first mapping of all is the program itself and comes
 * before all others, then in the order of the samples; UINT32_MAX for those that are never used. */
static uint32_t *rank_by_use(const struct profile *profile)
{
    uint32_t *ranks = heap_alloc(profile->mapping_count * sizeof(*ranks));
    uint32_t next = 1;
    memset(ranks, 0xff, profile->mapping_count * sizeof(*ranks));
    ranks[0] = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = profile->samples[i];
        if (is_zero(sample, profile->sample_type_count))
            continue;
        for (uint32_t j = 0; j < sample->location_count; j++) {
            const struct profile_mapping *mapping = sample->locations[j]->mapping;
            if (mapping != NULL && ranks[mapping->index] == UINT32_MAX)
                ranks[mapping->index] = next++;
        }
    }
    return ranks;
}

static bool has_group(const struct member *members, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (compare_keys(&members[i - 1], &members[i]) == 0)
            return true;
    return false;
}

static void rank_members(struct member *members, const struct profile *profile)
{
    uint32_t *ranks = rank_by_use(profile);
    for (uint32_t i = 0; i < profile->mapping_count; i++)
        members[i].rank = ranks[members[i].mapping->index];
    free(ranks);
    qsort(members, profile->mapping_count, sizeof(*members), compare_members);
}

struct mapping_groups *mapping_groups_new(const struct profile *profile)
{
    struct mapping_groups *groups = heap_alloc(sizeof(*groups));
    uint32_t count = profile->mapping_count;
    groups->first = heap_alloc((count + 1u) * sizeof(const struct profile_mapping *));
    if (count == 0)
        return groups;
    struct member *members = heap_alloc(count * sizeof(*members));
    for (uint32_t i = 0; i < count; i++)
        members[i] = member_of(profile->mappings[i]);
    qsort(members, count, sizeof(*members), compare_members);
    if (has_group(members, count))
        rank_members(members, profile);
    const struct member *first = members;
    for (uint32_t i = 0; i < count; i++) {
        if (compare_keys(first, &members[i]) != 0)
            first = &members[i];
        groups->first[members[i].mapping->index] = first->mapping;
    }
    free(members);
    return groups;
}

void mapping_groups_free(struct mapping_groups *groups)
{
    if (groups == NULL)
        return;
    free(groups->first);
    free(groups);
}

const struct profile_mapping *mapping_groups_first(const struct mapping_groups *groups,
                                                   const struct profile_mapping *mapping)
{
    return groups->first[mapping->index];
}

/* "scheme:..." as RFC 3986, section 3.1, has it, without control characters. */
static bool is_url(const char *text)
{
    size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+-.");
    bool begins_with_letter = (text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z';
    if (!begins_with_letter || text[scheme] != ':')
        return false;
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

const char *mapping_groups_file(const struct mapping_groups *groups,
                                const struct profile_mapping *mapping)
{
    if (mapping == NULL)
        return "";
    const struct profile_mapping *first = mapping_groups_first(groups, mapping);
    return first->build_id[0] == '\0' && is_url(first->filename) ? "" : first->filename;
}
