/* group_witness.h: tells a signal to the whole process group from one to the launcher alone.
 *
 * `timeout`, a shell script's `kill 0` and many supervisors send a signal to the group, which
 * reaches the command by itself; passing the launcher's copy on would make it two, and programs
 * take the second one for "at once". The kernel does not tell the receiver which it was. A process
 * in the same group that blocks everything can: what is pending there went to the group. */
#ifndef HEAPPROF_CLI_GROUP_WITNESS_H
#define HEAPPROF_CLI_GROUP_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts the witness; all signals must be blocked already. It holds no descriptor and goes when the
 * calling process goes. -1 when there can be none: then no signal counts as the group's. */
pid_t group_witness_start(void);

/* Whether the signal of this number, which has just reached the caller, was sent to the group. The
 * witness is replaced then, as its memory of the signal cannot be wiped. Takes ten milliseconds. */
bool group_witness_saw(pid_t *witness, int number);

/* Ends the witness; -1 is accepted. */
void group_witness_stop(pid_t witness);

#endif
