/* flame_colour.h: which colour class of share/flame.css a frame has. */
#ifndef HEAPPROF_CLI_FLAME_COLOUR_H
#define HEAPPROF_CLI_FLAME_COLOUR_H

#include <stdint.h>

/* Room for the name of a class, its NUL included. */
#define FLAME_COLOUR_SIZE 4

/* Class of the frame called name, whose code is in module (a base name) and whose source file is
 * source; both may be "". The library or name space chooses three neighbouring hues, the function
 * one of them and a shade: the same in every picture. Frames that are no functions ("[truncated]")
 * are grey. Returns text. */
char *flame_colour(const char *name, const char *module, const char *source,
                   char text[FLAME_COLOUR_SIZE]);

/* Class in a picture of differences: growth and shrink as in struct flame_node. */
char *flame_colour_change(uint64_t growth, uint64_t shrink, char text[FLAME_COLOUR_SIZE]);

#endif
