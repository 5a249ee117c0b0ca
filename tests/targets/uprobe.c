/* uprobe.c: runs a command with a uprobe set at an offset of a file.
 *
 *     uprobe FILE OFFSET COMMAND...
 *
 * Status 77 when this kernel or user may set none. Source: perf_event_open(2), the dynamic PMU
 * uprobe (Documentation/ABI/testing/sysfs-bus-event_source-devices-uprobe). */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CANNOT = 77 };

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned type;
    FILE *file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
    if (file == NULL || fscanf(file, "%u", &type) != 1)
        return CANNOT;
    fclose(file);
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = type,
        .uprobe_path = (uintptr_t)argv[1],
        .probe_offset = strtoull(argv[2], NULL, 0),
    };
    /* For all processes: one that is inherited would make clone fail after exec, since the kernel
     * reads the path again. Kept open across exec: the probe lasts as long as its descriptor. */
    if (syscall(SYS_perf_event_open, &attributes, -1, 0, -1, 0) < 0) {
        perror("perf_event_open");
        return CANNOT;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 1;
}
