/* demangle_test.c: mangled names and what people are to read. */
#include "symbolize/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct pair {
    const char *mangled, *simple;
};

static void check(const struct pair *pairs)
{
    for (; pairs->mangled; pairs++) {
        char *simple = demangle_simple(pairs->mangled);
        assert_string_equal(simple, pairs->simple);
        free(simple);
    }
}

static void parameters_and_template_arguments_are_left_out(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back"},
        {"_Z5outeri", "outer"},
        {"_Z3addIiiET0_T_", "add"},
        {"_ZN3BoxIiE3putIdEEvT_", "Box::put"},
        {"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_assignERKS4_",
         "std::__cxx11::basic_string::_M_assign"},
        {"_ZNSsC1EPKcRKSaIcE", "std::basic_string::basic_string"},
        {"_ZN3ArrILi1EE1fEv", "Arr::f"},
        {NULL, NULL},
    };
    check(pairs);
}

static void enclosing_functions_lose_their_parameters_and_lambdas_keep_theirs(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZZ5outeriEN2In2goEv", "outer::In::go"},
        {"_ZZ5outeriENKUliE_clEi", "outer::{lambda(int)#1}::operator()"},
        {"_ZZZ5outeriENKUliE_clEiENKUlvE_clEv",
         "outer::{lambda(int)#1}::operator()::{lambda()#1}::operator()"},
        {"_ZZN3BoxIiE3putIdEEvT_ENKUliS2_E_clIdEEDaiS2_",
         "Box::put::{lambda(int, auto:1)#1}::operator()"},
        {"_ZZ1fvEUlRKSt6vectorIiSaIiEEPFivEE_", "f::{lambda(std::vector const&, int (*)())#1}"},
        {"_ZN1aUt_3getEv", "a::{unnamed type#1}::get"},
        {NULL, NULL},
    };
    check(pairs);
}

static void operators_keep_their_names(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZltRK3BoxIiES2_", "operator<"},
        {"_ZltIiEbRK3BoxIT_Ei", "operator<"},
        {"_ZN3BoxIiElsEi", "Box::operator<<"},
        {"_ZrsIiE3BoxIT_ERKS2_i", "operator>>"},
        {"_ZN3BoxIiEptEv", "Box::operator->"},
        {"_ZNK3BoxIiEclEi", "Box::operator()"},
        {"_ZNK3BoxIiEssERKS0_", "Box::operator<=>"},
        {"_ZN3BoxIiEixEi", "Box::operator[]"},
        {"_Znwm", "operator new"},
        {"_ZdaPvm", "operator delete[]"},
        {"_Zli3_kby", "operator\"\" _kb"},
        {"_ZNK3BoxIiEcvT_IlEEv", "Box::operator long"},
        {"_ZNK3BoxIiEcvT_IPcEEv", "Box::operator char*"},
        {"_ZNK3BoxIiEcvSt6vectorIiSaIiEEEv", "Box::operator std::vector"},
        {NULL, NULL},
    };
    check(pairs);
}

static void special_names_are_told_in_words(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZN12_GLOBAL__N_16HiddenC2Ev", "(anonymous namespace)::Hidden::Hidden"},
        {"_ZN1VD0Ev", "V::~V"},
        {"_ZTv0_n24_N1WD1Ev", "virtual thunk to W::~W"},
        {"_ZThn16_N1W2vfEi", "non-virtual thunk to W::vf"},
        {"_ZTV1V", "vtable for V"},
        {"_ZTIPKDd", "typeinfo for decimal64 const*"},
        {"_ZGVZ5outeriE1f", "guard variable for outer::f"},
        {"_ZN3TagB5cxx111tEv", "Tag[abi:cxx11]::t"},
        {"_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main"},
        {NULL, NULL},
    };
    check(pairs);
}

static void rust_names_lose_their_hashes(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZN1r4grow17h6029f1a3e03f1cc0E", "r::grow"},
        {"_ZN1r11Sq$LT$T$GT$3get17h0bacc06b0451c77fE", "r::Sq<T>::get"},
        {"_ZN43_$LT$r..Sq$LT$T$GT$$u20$as$u20$r..Shape$GT$4area17h01888dbd594dd18aE",
         "<r::Sq<T> as r::Shape>::area"},
        {"_ZN1r4grow28_$u7b$$u7b$closure$u7d$$u7d$17h8461e128170eb156E", "r::grow::{{closure}}"},
        {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
        {"_RINvMs2_NtCsgEmfK2I1SDS_4core3fmtNtB6_9Arguments3newKja_Kj3_ECs6GmmlP4bgsG_1r",
         "<core::fmt::Arguments>::new::<10, 3>"},
        {"_RINvNtCsgEmfK2I1SDS_4core3ptr10swap_chunkKj8_ECs6GmmlP4bgsG_1r",
         "core::ptr::swap_chunk::<8>"},
        {NULL, NULL},
    };
    check(pairs);
}

static void suffixes_of_split_and_copied_functions_go(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZN3BoxIiE3putIdEEvT_.cold", "Box::put"},
        {"_ZN3BoxIiE3putIdEEvT_.isra.0.cold", "Box::put"},
        {"round_away.cold", "round_away"},
        {"parse.part.0.constprop.12", "parse"},
        {"helper.llvm.1234567890", "helper"},
        {NULL, NULL},
    };
    check(pairs);
}

static void other_names_stay_as_they_are(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"malloc", "malloc"},
        {"", ""},
        {"_", "_"},
        {"_Z", "_Z"},
        {"_R", "_R"},
        {"_ZN", "_ZN"},
        {"_Znotmangled", "_Znotmangled"},
        {"main.main", "main.main"},
        {"table.0", "table.0"},
        {".cold", ".cold"},
        {"file.c", "file.c"},
        {"name with spaces 12", "name with spaces 12"},
        {"libfoo.so+0x1234", "libfoo.so+0x1234"},
        {NULL, NULL},
    };
    check(pairs);
}

/* before, then unit as often as fits in length, then after. */
static char *long_name(const char *before, const char *unit, const char *after, size_t length)
{
    char *name = malloc(length + 1);
    assert_non_null(name);
    size_t at = strlen(before);
    memcpy(name, before, at);
    while (at + strlen(unit) + strlen(after) <= length) {
        memcpy(name + at, unit, strlen(unit));
        at += strlen(unit);
    }
    strcpy(name + at, after);
    return name;
}

static void names_of_any_length_and_depth_are_survived(void **state)
{
    (void)state;
    static const struct {
        const char *before, *unit, *after;
    } shapes[] = {
        {"_Z1fI", "P", "iE"},     {"_Z1fI", "1aI", ""},  {"_Z", "Z", ""},     {"_Z1fI", "M", ""},
        {"_Z1fIX", "ng", ""},     {"_Z1fI", "F", ""},    {"_ZTI", "P", "i"},  {"_ZN", "1a", "Ev"},
        {"_Z1fIXsZ", "sZ", ""},   {"_Z1fIA_", "A_", ""}, {"_RNv", "NvC", ""}, {"_RI", "I", ""},
        {"_RNvMC1a", "FKC", "u"}, {"_ZN", "UlP", ""},    {"plain", "x", ""},  {"_Z1fIJ", "J", ""},
    };
    static const size_t lengths[] = {1000, 16384, 70000};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (size_t j = 0; j < sizeof(lengths) / sizeof(*lengths); j++) {
            char *name = long_name(shapes[i].before, shapes[i].unit, shapes[i].after, lengths[j]);
            char *simple = demangle_simple(name);
            assert_true(strlen(simple) <= lengths[j]);
            free(simple);
            free(name);
        }
    }
    char *name = long_name("_ZN", "1a", "3endEv", 70000);
    char *simple = demangle_simple(name);
    assert_string_equal(simple, name);
    free(simple);
    free(name);
}

/* Each level names the one before it twice: 2 to the power of 40 letters when written out. */
static void names_that_would_grow_exponentially_end_quickly(void **state)
{
    (void)state;
    char rust[1024] = "_RINvC1a1bTuuE", cxx[1024] = "_Z1fI1aSt4pairIS0_S0_E";
    for (int level = 0; level < 40; level++) {
        char piece[32];
        snprintf(piece, sizeof(piece), "TB%c_B%c_E", 'a' + level % 26, 'a' + level % 26);
        strcat(rust, piece);
        snprintf(piece, sizeof(piece), "St4pairIS%c_S%c_E", '1' + level % 9, '1' + level % 9);
        strcat(cxx, piece);
    }
    strcat(rust, "E");
    strcat(cxx, "Evv");
    char *simple = demangle_simple(rust);
    assert_true(strlen(simple) < 20000);
    free(simple);
    simple = demangle_simple(cxx);
    assert_true(strcmp(simple, "f") == 0 || strcmp(simple, cxx) == 0);
    free(simple);
}

static void the_full_name_says_everything(void **state)
{
    (void)state;
    static const struct pair pairs[] = {
        {"_ZNSt6vectorIiSaIiEE9push_backERKi",
         "std::vector<int, std::allocator<int> >::push_back(int const&)"},
        {"_Z5outeri", "outer(int)"},
        {"main", NULL},
        {"_Znonsense", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (const struct pair *pair = pairs; pair->mangled; pair++) {
        char *full = demangle_full(pair->mangled);
        if (pair->simple)
            assert_string_equal(full, pair->simple);
        else
            assert_null(full);
        free(full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_full_name_says_everything),
        cmocka_unit_test(parameters_and_template_arguments_are_left_out),
        cmocka_unit_test(enclosing_functions_lose_their_parameters_and_lambdas_keep_theirs),
        cmocka_unit_test(operators_keep_their_names),
        cmocka_unit_test(special_names_are_told_in_words),
        cmocka_unit_test(rust_names_lose_their_hashes),
        cmocka_unit_test(suffixes_of_split_and_copied_functions_go),
        cmocka_unit_test(other_names_stay_as_they_are),
        cmocka_unit_test(names_of_any_length_and_depth_are_survived),
        cmocka_unit_test(names_that_would_grow_exponentially_end_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
