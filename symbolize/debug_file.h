/* debug_file.h: where the debug information of a stripped file is kept. */
#ifndef HEAPPROF_SYMBOLIZE_DEBUG_FILE_H
#define HEAPPROF_SYMBOLIZE_DEBUG_FILE_H

struct elf_file;

/* Opens the separate debug file of file, which was loaded from path: first by build id
 * (ROOT/.build-id/xx/yyyy.debug), then by .gnu_debuglink beside path, in .debug/ there, and in
 * ROOT/DIRECTORY-OF-PATH. A candidate is taken only when its build id is the file's or, where the
 * file has none, its CRC-32 is the link's. NULL when there is none. The caller closes it. */
struct elf_file *debug_file_find(const struct elf_file *file, const char *path, const char *root);

/* The same for a file that is known by its build id alone (lower-case hex). */
struct elf_file *debug_file_of_build_id(const char *build_id, const char *root);

/* The file that .gnu_debugaltlink of file names (dwz): by its path, relative to path's directory,
 * or by build id below root. Only with the build id that the link tells. NULL when there is none.
 */
struct elf_file *debug_file_find_alternate(const struct elf_file *file, const char *path,
                                           const char *root);

/* The usual root. */
#define DEBUG_FILE_ROOT "/usr/lib/debug"

#endif
