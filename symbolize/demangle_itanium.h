/* demangle_itanium.h: C++ names as pprof shows them. */
#ifndef HEAPPROF_SYMBOLIZE_DEMANGLE_ITANIUM_H
#define HEAPPROF_SYMBOLIZE_DEMANGLE_ITANIUM_H

/* The name in mangled (Itanium C++ ABI, "_Z...") without parameters, return type and template
 * arguments. malloc'ed, the caller frees; NULL when mangled is no such name or is too deep. The
 * stack used grows with the length of mangled: the caller bounds it. */
char *demangle_itanium(const char *mangled);

#endif
