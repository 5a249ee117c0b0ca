/* rss_end.h: how much the process had resident at most, told at its end. */
#ifndef HEAPPROF_RUNTIME_RSS_END_H
#define HEAPPROF_RUNTIME_RSS_END_H

/* Takes note of what the kernel counts so far. From the constructor. */
void rss_end_start(void);

#endif
