/* plain_name.h: C++ names that were never mangled. */
#ifndef HEAPPROF_SYMBOLIZE_PLAIN_NAME_H
#define HEAPPROF_SYMBOLIZE_PLAIN_NAME_H

/* name, as DWARF spells the functions that have no linkage name ("std::__invoke<int,
 * main()::<lambda()> >"), without template arguments and parameters: "std::__invoke". Operators
 * keep their signs, "(anonymous namespace)" stays, a lambda is "<lambda>". malloc'ed, the caller
 * frees; never NULL. Any thread. */
char *plain_name_simple(const char *name);

#endif
