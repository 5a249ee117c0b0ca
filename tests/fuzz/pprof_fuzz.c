/* pprof_fuzz.c: a libFuzzer target for the reader and the writer.
 *
 * Any bytes may be refused; what is read must be writable, readable again and then stable: written
 * a second time it gives the same bytes. Build with clang -fsanitize=fuzzer,address,undefined and
 * the objects of proto/; a corpus of real profiles helps. */
#include "proto/pprof.h"

#include "proto/error.h"
#include "proto/profile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static uint8_t *encode(const struct profile *profile, size_t *size)
{
    struct error error;
    uint8_t *bytes;
    require(pprof_encode(profile, &bytes, size, &error));
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error error = {0};
    struct profile *profile = pprof_decode(data, size, "input", &error);
    if (!profile) {
        require(strncmp(error.text, "input: ", 7) == 0);
        return 0;
    }
    size_t first_size;
    uint8_t *first = encode(profile, &first_size);
    struct profile *copy = pprof_decode(first, first_size, "copy", &error);
    require(copy != NULL);
    require(copy->mapping_count == profile->mapping_count);
    size_t second_size;
    uint8_t *second = encode(copy, &second_size);
    require(second_size == first_size && memcmp(first, second, first_size) == 0);
    free(second);
    free(first);
    profile_free(copy);
    profile_free(profile);
    return 0;
}
