/* profile.h: the profile model. Everything downstream of the collector reads and writes this.
 *
 * It is the model of pprof's profile.proto (google/pprof proto/profile.proto): samples with one
 * value per sample type, over locations (leaf first), over functions and mappings. Everything a
 * profile points to, strings included, lives in its arena and goes with profile_free. Strings are
 * interned: equal strings are the same pointer, and "" is never NULL. All strings are valid UTF-8
 * (invalid bytes are replaced by U+FFFD on entry) and without NUL. Not thread-safe. */
#ifndef HEAPPROF_PROTO_PROFILE_H
#define HEAPPROF_PROTO_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct profile_value_type {
    const char *type; /* "alloc_space" */
    const char *unit; /* "bytes" */
};

/* One executable mapping of a file. ids are index + 1 when written. */
struct profile_mapping {
    uint32_t index;        /* position in profile->mappings */
    uint64_t memory_start; /* as in /proc/PID/maps, page aligned */
    uint64_t memory_limit; /* one past the end */
    uint64_t file_offset;  /* file offset of memory_start */
    const char *filename;  /* path, or a name such as "[vdso]" or "[anon]" */
    const char *build_id;  /* lower-case hex of the GNU build id, "" when there is none */
    bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct profile_function {
    uint32_t index;          /* position in profile->functions */
    const char *name;        /* for people: demangled, simplified */
    const char *system_name; /* as in the object file, mangled */
    const char *filename;    /* source file, "" when unknown */
    int64_t start_line;      /* line of the declaration, 0 when unknown */
};

struct profile_line {
    struct profile_function *function;
    int64_t line;   /* 0 when unknown */
    int64_t column; /* 0 when unknown */
};

/* One call site. lines[0] is the innermost inlined function, the last one the function that was
 * really called; no lines at all when nothing is known. */
struct profile_location {
    uint32_t index;                  /* position in profile->locations */
    struct profile_mapping *mapping; /* NULL when the address belongs to none */
    uint64_t address;                /* inside the call instruction (return address - 1), or the
                                        exact pc of an interrupted frame; 0 when unknown */
    struct profile_line *lines;
    uint32_t line_count;
    bool is_folded;
};

/* Either text (str not NULL) or number. */
struct profile_label {
    const char *key;
    const char *str;
    int64_t num;
    const char *num_unit; /* "" when none */
};

/* What pprof has no place for; written as fields 100 and up inside Sample, only when not all zero.
 * Each row: kind (double: a finite number from 0 up; int64_t), name. All are sums over the objects
 * of the sample, so they add up like its values; only the shortest and longest lifetime do not.
 *   *_variance          of the estimate of the same name, in bytes squared or objects squared
 *   *_samples           sampled objects behind the estimates
 *   freed_objects       objects freed (alloc_objects less inuse_objects, not rounded)
 *   lifetime_sum        of the freed objects, in nanoseconds times objects
 *   lifetime_min, _max  nanoseconds, of the sampled objects freed; 0 when there are none
 *   temporary_objects   of the freed ones: those freed within the temporary threshold
 *   foreign_objects     of the freed ones: those that another thread freed than allocated them
 *   age_sum             of the objects in use, at the profile's end, in nanoseconds times objects
 *   live_objects        objects in use (inuse_objects, not rounded)
 * Without lifetimes all of these are 0. */
#define PROFILE_SAMPLE_EXTRAS(X)                                                                   \
    X(double, alloc_space_variance)                                                                \
    X(double, inuse_space_variance)                                                                \
    X(double, peak_space_variance)                                                                 \
    X(int64_t, alloc_samples)                                                                      \
    X(int64_t, inuse_samples)                                                                      \
    X(int64_t, peak_samples)                                                                       \
    X(double, alloc_objects_variance)                                                              \
    X(double, inuse_objects_variance)                                                              \
    X(double, peak_objects_variance)                                                               \
    X(double, freed_objects)                                                                       \
    X(double, lifetime_sum)                                                                        \
    X(int64_t, lifetime_min)                                                                       \
    X(int64_t, lifetime_max)                                                                       \
    X(double, temporary_objects)                                                                   \
    X(double, foreign_objects)                                                                     \
    X(double, age_sum)                                                                             \
    X(double, live_objects)

struct profile_sample_extra {
#define PROFILE_EXTRA_FIELD(type, name) type name;
    PROFILE_SAMPLE_EXTRAS(PROFILE_EXTRA_FIELD)
#undef PROFILE_EXTRA_FIELD
};

/* Adds more to *sum: variances of independent estimates add up; of lifetimes, the shortest and the
 * longest stay. Numbers stop at INT64_MAX. */
void profile_extra_add(struct profile_sample_extra *sum, const struct profile_sample_extra *more);

struct profile_sample {
    struct profile_location **locations; /* leaf first */
    uint32_t location_count;
    uint32_t label_count;
    int64_t *values; /* profile->sample_type_count of them */
    struct profile_label *labels;
    struct profile_sample_extra extra;
};

struct profile {
    struct arena *arena;
    struct profile_value_type *sample_types;
    uint32_t sample_type_count;
    struct profile_sample **samples;
    size_t sample_count;
    struct profile_mapping **mappings;
    uint32_t mapping_count;
    struct profile_location **locations;
    uint32_t location_count;
    struct profile_function **functions;
    uint32_t function_count;
    const char **comments;
    uint32_t comment_count;
    int64_t time_nanos;     /* since 1970, 0 when unknown */
    int64_t duration_nanos; /* 0 when unknown */
    struct profile_value_type period_type;
    int64_t period;
    const char *default_sample_type; /* "" when not given: then the last one is the default */
    const char *drop_frames;         /* "" when none */
    const char *keep_frames;
    struct profile_index *index; /* private to profile.c */
};

/* A new, empty profile; freed with profile_free (which accepts NULL). Never NULL. */
struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* The interned copy of text, made valid UTF-8. text NULL gives "". */
const char *profile_intern(struct profile *profile, const char *text);
const char *profile_intern_length(struct profile *profile, const char *text, size_t length);

/* Each of the following copies what it is given and returns the element, owned by the profile.
 * Strings need not be interned by the caller. */
void profile_add_sample_type(struct profile *profile, const char *type, const char *unit);
void profile_add_comment(struct profile *profile, const char *text);
struct profile_mapping *profile_add_mapping(struct profile *profile,
                                            const struct profile_mapping *mapping);
/* The function with this (name, system_name, filename, start_line); added when it is new. */
struct profile_function *profile_function(struct profile *profile, const char *name,
                                          const char *system_name, const char *filename,
                                          int64_t start_line);
/* The location with this (mapping, address); added, with no lines, when it is new. */
struct profile_location *profile_location(struct profile *profile, struct profile_mapping *mapping,
                                          uint64_t address);
/* A location that is always new (readers of files need it: ids need not be unique by address). */
struct profile_location *profile_add_location(struct profile *profile,
                                              struct profile_mapping *mapping, uint64_t address);
/* Replaces the location's lines by a copy of lines[0..count). */
void profile_set_lines(struct profile *profile, struct profile_location *location,
                       const struct profile_line *lines, uint32_t count);
/* A sample over locations[0..count), leaf first, with sample_type_count values; no labels. */
struct profile_sample *profile_add_sample(struct profile *profile,
                                          struct profile_location *const *locations, uint32_t count,
                                          const int64_t *values);
void profile_add_label(struct profile *profile, struct profile_sample *sample,
                       const struct profile_label *label);

/* The index of the sample type called name, or of the default one when name is NULL or "".
 * -1 when there is none of that name. As in pprof, "samples"-style short forms are not expanded, a
 * decimal index is taken too, and "inuse_space" also finds "space". A default that does not exist
 * counts as none. */
int profile_sample_type_index(const struct profile *profile, const char *name);

#endif
