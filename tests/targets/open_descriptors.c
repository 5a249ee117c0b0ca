/* open_descriptors.c: prints the descriptors it has open, then has a child print its own.
 *
 * One line a descriptor: number and what it leads to, without the numbers of pipes and sockets.
 * The directory it reads is descriptor 3 in a program started with 0, 1 and 2. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_descriptors(const char *who)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char target[512] = "";
        if (entry->d_name[0] == '.')
            continue;
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);
        if (length < 0 || strstr(target, "/fd") != NULL)
            continue;
        char *colon = strchr(target, ':');
        if (colon != NULL)
            *colon = '\0';
        printf("%s %s %s\n", who, entry->d_name, target);
    }
    closedir(folder);
    fflush(stdout);
}

int main(void)
{
    /* Enough for a sample or two at any rate: what opens descriptors lazily opens them now. */
    for (int i = 0; i < 100; i++)
        free(malloc(100000));
    print_descriptors("parent");
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 100; i++)
            free(malloc(100000));
        print_descriptors("child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
