/* thread_name.h: the names that the program gives its threads. */
#ifndef HEAPPROF_RUNTIME_THREAD_NAME_H
#define HEAPPROF_RUNTIME_THREAD_NAME_H

/* Finds libc's pthread_setname_np, which ours stands before. From the constructor. */
void thread_name_start(void);

#endif
