/* libc_begin.h: libc's own start, before ours. */
#ifndef HEAPPROF_RUNTIME_LIBC_BEGIN_H
#define HEAPPROF_RUNTIME_LIBC_BEGIN_H

/* Runs libc's constructors with the program's arguments; constructor only, before any dlopen. */
void libc_begin(int argc, char **argv, char **envp);

#endif
