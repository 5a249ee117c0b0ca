/* allocator_frames.h: the leaf of a heap sample is the function that asked for memory. */
#ifndef HEAPPROF_CLI_ALLOCATOR_FRAMES_H
#define HEAPPROF_CLI_ALLOCATOR_FRAMES_H

struct profile;

/* Takes allocator functions off the leaf end of every stack of a symbolized profile, inlined ones
 * included; the last frame of a stack stays. The runtime has left out its own frames already: this
 * is for what lies between the caller and malloc and only names tell. */
void allocator_frames_trim(struct profile *profile);

#endif
