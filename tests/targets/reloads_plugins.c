/* reloads_plugins.c: opens each library it is given, calls its plugin_allocate and closes it again.
 *
 * Libraries of one size are loaded at one address, one after the other; with `twice` as the first
 * argument the whole list is gone through twice. What they allocate is kept. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call_all(char **paths)
{
    for (; *paths != NULL; paths++) {
        void *plugin = dlopen(*paths, RTLD_NOW);
        void (*allocate)(void) = plugin == NULL ? NULL : dlsym(plugin, "plugin_allocate");
        if (allocate == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        allocate();
        dlclose(plugin);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int twice = argc > 1 && strcmp(argv[1], "twice") == 0;
    int failed = call_all(argv + 1 + twice);
    return twice && !failed ? call_all(argv + 2) : failed;
}
