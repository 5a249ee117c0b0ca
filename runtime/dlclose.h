/* dlclose.h: finds the dlclose behind ours; from the constructor. */
#ifndef HEAPPROF_RUNTIME_DLCLOSE_H
#define HEAPPROF_RUNTIME_DLCLOSE_H

void dlclose_start(void);

#endif
