/* entry_jumps.c: says where the conditional jumps of its malloc and free lead that are taken for
 * what is not sampled: "direct" to libc's own, or to those of the loaded library that the argument
 * names, or "indirect", through a jump behind them. Then allocates and frees, so that either way is
 * gone, and fails when memory is lost (as far as libc knows) or changed. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 40, BLOCKS = 1000 };

/* Where the first `0F opcode` near jump from code on leads; NULL when there is none. */
static const void *first_jump(const uint8_t *code, uint8_t opcode)
{
    for (int i = 0; i < LOOKED_AT; i++) {
        int32_t distance;
        memcpy(&distance, code + i + 2, sizeof(distance));
        if (code[i] == 0x0f && code[i + 1] == opcode)
            return code + i + 6 + distance;
    }
    return NULL;
}

static void tell(void *library, const char *name, uint8_t opcode)
{
    const void *place = dlsym(RTLD_DEFAULT, name);
    const void *leads_to = first_jump(place, opcode);
    printf("%s %02x %s\n", name, opcode, leads_to == dlsym(library, name) ? "direct" : "indirect");
}

int main(int argc, char **argv)
{
    static char *blocks[BLOCKS];
    void *library = dlopen(argc > 1 ? argv[1] : "libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return 1;
    tell(library, "malloc", 0x8f);
    tell(library, "free", 0x83);
    tell(library, "free", 0x82);
    fflush(stdout);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(4096);
        if (blocks[i] == NULL)
            return 1;
        memset(blocks[i], i, 4096);
    }
    for (int i = 0; i < BLOCKS; i++) {
        if (blocks[i][4095] != (char)i)
            return 1;
        free(blocks[i]);
    }
    free(NULL);
    free(malloc(0));
    /* Less than a tenth of what was there for a moment. */
    return mallinfo2().uordblks > before + BLOCKS * 4096 / 10;
}
