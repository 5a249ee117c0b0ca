/* wrong_free.c: frees what it must not: `double`, `inside`, or `after_realloc`. Prints nothing; a
 * program that survives returns 0. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char *volatile block = malloc(100);
    char *volatile wrong = block;
    if (strcmp(how, "inside") == 0)
        wrong = block + 16;
    else if (strcmp(how, "after_realloc") == 0)
        block = realloc(block, 100000);
    else
        free(block);
    free(wrong);
    return 0;
}
