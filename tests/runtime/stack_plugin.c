/* stack_plugin.c: a shared object whose code is the same for FRAME_BYTES 40 and 104, but whose
 * unwind rules are not. For hook_stack.bats. */
void call_back(void (*function)(void));

__attribute__((noinline)) void call_back(void (*function)(void))
{
    char block[FRAME_BYTES];
    __asm__ volatile("" : : "r"(block) : "memory");
    function();
    __asm__ volatile("" : : "r"(block) : "memory");
}
