/* foreign_format.c: files that people have at hand and that heapprof cannot read, by how they
 * begin.
 *
 * Sources: jemalloc src/prof_data.c (prof_dump_header), gperftools src/heap-profile-table.cc and
 * src/profiledata.cc, golang/go src/runtime/pprof/pprof.go, linux tools/perf/util/header.h. */
#include "proto/foreign_format.h"

#include <string.h>

#define TEXT_LOOK_BYTES 512u

struct foreign_row {
    const char *start;
    size_t length;
    const char *name;
};

#define START(text) text, sizeof(text) - 1

static const struct foreign_row foreign_rows[] = {
    {START("heap_v2/"), "a jemalloc heap dump (text)"},
    {START("heap profile:"), "a gperftools heap profile (text)"},
    {START("--- heap"), "a Java heap profile (text)"},
    {START("--- contention"), "a contention profile (text)"},
    {START("--- mutex"), "a mutex profile (text)"},
    {START("--- thread"), "a thread profile (text)"},
    {START("goroutine profile:"), "a Go goroutine profile (text)"},
    {START("threadcreate profile:"), "a Go thread profile (text)"},
    /* the header's words: 0, 3 header words, version 0 */
    {START("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "a gperftools CPU profile"},
    {START("PERFILE2"), "a perf.data file"},
    {START("\177ELF"), "an ELF file"},
    {START("<?xml"), "an XML file"},
    {START("<svg"), "an SVG file"},
    {START("<!DOCTYPE"), "an HTML file"},
    {START("{\""), "a JSON file"},
    {START("\x28\xb5\x2f\xfd"), "a zstd file"},
    {START("\xfd\x37zXZ"), "an xz file"},
};

const char *foreign_format_name(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof(foreign_rows) / sizeof(foreign_rows[0]); i++) {
        const struct foreign_row *row = &foreign_rows[i];
        if (size >= row->length && memcmp(bytes, row->start, row->length) == 0)
            return row->name;
    }
    return NULL;
}

bool foreign_format_is_text(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && i < TEXT_LOOK_BYTES; i++) {
        bool space = bytes[i] == ' ' || (bytes[i] >= '\t' && bytes[i] <= '\r');
        bool control = bytes[i] < ' ' || bytes[i] == 0x7f;
        if (control && !space && bytes[i] != '\033')
            return false;
    }
    return true;
}
