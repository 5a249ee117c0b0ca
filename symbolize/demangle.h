/* demangle.h: mangled names to names for people. */
#ifndef HEAPPROF_SYMBOLIZE_DEMANGLE_H
#define HEAPPROF_SYMBOLIZE_DEMANGLE_H

/* name demangled and simplified as pprof's default does it: C++ (Itanium) without parameters,
 * return type and template arguments, Rust (legacy and v0) without hashes; suffixes that compilers
 * add to the parts and copies of a function (".cold", ".isra.0") go. Any other name is given as it
 * is, and so is one that is too long or too deep to be demangled within bounds. malloc'ed, the
 * caller frees; never NULL. Any thread. */
char *demangle_simple(const char *name);

/* A C++ name with all that it says, as c++filt prints it: "Box<int>::put(int)". NULL for any other
 * name, and for one that cannot be demangled within bounds. malloc'ed, the caller frees. Any
 * thread. */
char *demangle_full(const char *name);

#endif
