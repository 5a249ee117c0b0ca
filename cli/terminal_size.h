/* terminal_size.h: how wide a terminal is. */
#ifndef HEAPPROF_CLI_TERMINAL_SIZE_H
#define HEAPPROF_CLI_TERMINAL_SIZE_H

/* The columns of the terminal that descriptor refers to: what $COLUMNS says, which is the user's
 * word, else what the terminal says. 80 where neither says anything, or there is no terminal. From
 * 1 to 10000. */
unsigned terminal_columns(int descriptor);

#endif
