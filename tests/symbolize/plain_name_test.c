/* plain_name_test.c: names as gcc and clang write them into DW_AT_name. */
#include "symbolize/plain_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void check(const char *name, const char *expected)
{
    char *simple = plain_name_simple(name);
    assert_string_equal(simple, expected);
    free(simple);
}

static void template_arguments_and_parameters_go(void **state)
{
    (void)state;
    check("std::__invoke<main()::<lambda()> >", "std::__invoke");
    check("std::thread::_Invoker<std::tuple<main()::<lambda()> > >::_M_invoke<0>",
          "std::thread::_Invoker::_M_invoke");
    check("std::vector<int, std::allocator<int> >::push_back(int const&) const",
          "std::vector::push_back");
    check("apply<(char)40, int (*)(char)>", "apply");
}

static void operators_keep_their_signs(void **state)
{
    (void)state;
    check("Invoker<int>::operator()", "Invoker::operator()");
    check("Invoker<int>::operator()<char>(int) const", "Invoker::operator()");
    check("operator<< <char>", "operator<<");
    check("A<int>::operator<", "A::operator<");
    check("A<int>::operator->", "A::operator->");
    check("A<int>::operator>>", "A::operator>>");
    check("A<int>::operator<=>", "A::operator<=>");
}

static void anonymous_namespaces_and_lambdas_stay(void **state)
{
    (void)state;
    check("(anonymous namespace)::Shelf<int>::fill", "(anonymous namespace)::Shelf::fill");
    check("main(int, char**)::<lambda(int)>::operator()", "main::<lambda>::operator()");
}

static void plain_names_and_broken_ones_are_left_alone(void **state)
{
    (void)state;
    check("main", "main");
    check("a::b::c", "a::b::c");
    check("", "");
    check("broken<int", "broken<int");
    check("broken(int", "broken(int");
    check("<", "<");
    check("(", "(");
    check("<lambda", "<lambda");
    check("()", "()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_arguments_and_parameters_go),
        cmocka_unit_test(operators_keep_their_signs),
        cmocka_unit_test(anonymous_namespaces_and_lambdas_stay),
        cmocka_unit_test(plain_names_and_broken_ones_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
