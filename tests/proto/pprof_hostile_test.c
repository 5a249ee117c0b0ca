/* pprof_hostile_test.c: damaged profiles, systematically.
 *
 * Each byte of a valid file gets several other values, and the file is cut after each byte. The
 * reader must refuse with a reason or read a profile that can be written and read again. Meant to
 * run under sanitizers too: inputs lie in blocks of exactly their size. Always the same inputs. */
#include "proto/pprof.h"

#include "proto/error.h"
#include "proto/gzip.h"
#include "proto/profile.h"
#include "tests/proto/profile_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define LIMIT ((size_t)1 << 20)

struct tally {
    size_t read, refused;
};

static void assert_readable_again(const struct profile *profile)
{
    struct error error = {0};
    uint8_t *bytes;
    size_t size;
    assert_true(pprof_encode(profile, &bytes, &size, &error));
    struct profile *copy = pprof_decode(bytes, size, "copy", &error);
    if (!copy)
        fail_msg("%s", error.text);
    assert_int_equal(copy->sample_type_count, profile->sample_type_count);
    assert_true(copy->sample_count <= profile->sample_count);
    profile_free(copy);
    free(bytes);
}

static void try_bytes(const uint8_t *bytes, size_t size, struct tally *tally)
{
    uint8_t *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct error error = {0};
    struct profile *profile = pprof_decode(exact, size, "file", &error);
    free(exact);
    if (profile) {
        tally->read++;
        assert_readable_again(profile);
        profile_free(profile);
    } else {
        tally->refused++;
        assert_memory_equal(error.text, "file: ", 6);
        assert_true(strlen(error.text) > 6);
    }
}

static struct tally damage_each_byte(uint8_t *bytes, size_t size)
{
    static const uint8_t masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x7f, 0xff};
    struct tally tally = {0};
    for (size_t at = 0; at < size; at++) {
        uint8_t good = bytes[at];
        for (size_t i = 0; i < sizeof(masks); i++) {
            bytes[at] = good ^ masks[i];
            try_bytes(bytes, size, &tally);
        }
        bytes[at] = 0;
        if (good != 0)
            try_bytes(bytes, size, &tally);
        bytes[at] = good;
    }
    return tally;
}

static struct tally cut_at_each_byte(const uint8_t *bytes, size_t size)
{
    struct tally tally = {0};
    for (size_t cut = 0; cut < size; cut++)
        try_bytes(bytes, cut, &tally);
    return tally;
}

static uint8_t *fixture_gzip(size_t *size)
{
    struct profile *profile = fixture_profile();
    uint8_t *bytes;
    assert_true(pprof_encode(profile, &bytes, size, NULL));
    profile_free(profile);
    return bytes;
}

static uint8_t *fixture_raw(size_t *raw_size)
{
    size_t size;
    uint8_t *bytes = fixture_gzip(&size);
    uint8_t *raw;
    assert_true(gzip_inflate(bytes, size, LIMIT, "file", &raw, raw_size, NULL));
    free(bytes);
    return raw;
}

static void a_damaged_byte_is_refused_or_gives_a_whole_profile(void **state)
{
    (void)state;
    size_t size;
    uint8_t *raw = fixture_raw(&size);
    struct tally tally = damage_each_byte(raw, size);
    /* both happen: else the test would test nothing */
    assert_true(tally.read > size / 2);
    assert_true(tally.refused > size / 2);
    free(raw);
}

static void a_cut_profile_is_refused_or_gives_a_whole_profile(void **state)
{
    (void)state;
    size_t size;
    uint8_t *raw = fixture_raw(&size);
    struct tally tally = cut_at_each_byte(raw, size);
    assert_int_equal(tally.read + tally.refused, size);
    assert_true(tally.refused > size / 2);
    free(raw);
}

static void a_cut_gzip_file_is_always_refused(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = fixture_gzip(&size);
    struct tally tally = cut_at_each_byte(bytes, size);
    assert_int_equal(tally.refused, size);
    free(bytes);
}

/* What the damage has not changed: a gzip file has bits without a meaning, in its header (time,
 * system) and where a block of deflate ends. */
static bool is_still_whole(const uint8_t *bytes, size_t size, const uint8_t *raw, size_t raw_size)
{
    uint8_t *other;
    size_t other_size;
    if (!gzip_inflate(bytes, size, LIMIT, "file", &other, &other_size, NULL))
        return false;
    bool equal = other_size == raw_size && memcmp(other, raw, raw_size) == 0;
    free(other);
    return equal;
}

static void a_damaged_gzip_file_is_refused_or_reads_as_before(void **state)
{
    (void)state;
    size_t size, raw_size;
    uint8_t *bytes = fixture_gzip(&size);
    uint8_t *raw = fixture_raw(&raw_size);
    struct tally all = {0};
    for (size_t at = 0; at < size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct tally one = {0};
            bytes[at] ^= (uint8_t)(1u << bit);
            try_bytes(bytes, size, &one);
            assert_true(one.refused == 1 || is_still_whole(bytes, size, raw, raw_size));
            bytes[at] ^= (uint8_t)(1u << bit);
            all.refused += one.refused;
        }
    assert_true(all.refused > size * 7);
    free(bytes);
    free(raw);
}

static void random_runs_of_damage_do_no_harm(void **state)
{
    (void)state;
    size_t size;
    uint8_t *good = fixture_raw(&size);
    uint8_t *bad = malloc(size);
    assert_non_null(bad);
    uint32_t random = 12345;
    struct tally tally = {0};
    for (int round = 0; round < 20000; round++) {
        memcpy(bad, good, size);
        for (int hit = 0; hit <= round % 4; hit++) {
            random = random * 1664525u + 1013904223u;
            size_t from = (random >> 8) % size;
            random = random * 1664525u + 1013904223u;
            size_t to = (random >> 8) % size;
            size_t most = size - (from > to ? from : to);
            size_t count = (random >> 4) % 16;
            memmove(bad + to, good + from, count < most ? count : most);
        }
        try_bytes(bad, size, &tally);
    }
    assert_true(tally.read > 0 && tally.refused > 0);
    free(bad);
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_byte_is_refused_or_gives_a_whole_profile),
        cmocka_unit_test(a_cut_profile_is_refused_or_gives_a_whole_profile),
        cmocka_unit_test(a_cut_gzip_file_is_always_refused),
        cmocka_unit_test(a_damaged_gzip_file_is_refused_or_reads_as_before),
        cmocka_unit_test(random_runs_of_damage_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
