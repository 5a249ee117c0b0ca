// replaced_new.cc: a program with an operator new and delete of its own, which new[] and the
// nothrow forms must reach. Prints how often: "new 3 delete 3".
#include <cstdio>
#include <cstdlib>
#include <new>

static int news, deletes;

void *operator new(std::size_t size)
{
    news++;
    void *p = std::malloc(size);
    if (p == nullptr)
        throw std::bad_alloc();
    return p;
}

void operator delete(void *p) noexcept
{
    deletes++;
    std::free(p);
}

int main()
{
    volatile char *plain = new char;
    volatile char *array = new char[600000];
    volatile char *quiet = new (std::nothrow) char[10];
    delete plain;
    delete[] array;
    delete[] quiet;
    std::printf("new %d delete %d\n", news, deletes);
}
