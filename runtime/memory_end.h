/* memory_end.h: how much memory the process had, told at its end. */
#ifndef HEAPPROF_RUNTIME_MEMORY_END_H
#define HEAPPROF_RUNTIME_MEMORY_END_H

/* Takes note of what the kernel counts so far. From the constructor. */
void memory_end_start(void);

#endif
