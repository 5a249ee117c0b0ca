/* hook_weight.c: gaps, weights and variances of the sampling law, in integers.
 *
 * Hook-safe: pure arithmetic. With x = size/rate everything is a function of x alone:
 *
 *     weight   w = 1 / (1 - e^-x)
 *     variance v = x^2 e^-x / (1 - e^-x)^2        (times rate^2)
 *
 * Up to x = 1 both come from a = x / (1 - e^-x) = 1 + x/2 + x^2/12 - x^4/720 + ..., the generating
 * function of the Bernoulli numbers, whose error at 1 is 2e-8; there 1 - e^-x itself would cancel.
 * Above, e^-x is a product of constants for the whole part and a Taylor series for the rest. */
#include "runtime/hook_weight.h"

#include <stddef.h>

typedef unsigned __int128 wide;

enum { X_ENOUGH = 40 }; /* e^-40 is below 2^-57: every such object is sampled */

#define ONE_Q62 (1ull << 62)

static const uint64_t one_q32 = 1ull << 32;
static const uint64_t one_q62 = ONE_Q62;

/* dividend / divisor where the quotient fits in 64 bits; the compiler would call a function for
 * it that costs several times the instruction. */
static uint64_t divide(wide dividend, uint64_t divisor)
{
    uint64_t quotient;
    uint64_t remainder;
    __asm__("divq %4"
            : "=a"(quotient), "=d"(remainder)
            : "a"((uint64_t)dividend), "d"((uint64_t)(dividend >> 64)), "r"(divisor)
            : "cc");
    return quotient;
}

static uint64_t multiply_q62(uint64_t a, uint64_t b)
{
    return (uint64_t)((wide)a * b >> 62);
}

/* -ln(random / 2^64) in 1/2^32. random = m * 2^(63 - zeros), m in [1, 2); ln m = 2 atanh(s) with
 * s = (m - 1) / (m + 1) <= 1/3, whose 11 terms leave 1e-12. */
static uint64_t negative_log_q32(uint64_t random)
{
    static const uint64_t ln2_q62 = 3196577161300663915ull;
    static const uint64_t inverse_q62[] = {ONE_Q62 / 21, ONE_Q62 / 19, ONE_Q62 / 17, ONE_Q62 / 15,
                                           ONE_Q62 / 13, ONE_Q62 / 11, ONE_Q62 / 9,  ONE_Q62 / 7,
                                           ONE_Q62 / 5,  ONE_Q62 / 3,  ONE_Q62};
    unsigned zeros = (unsigned)__builtin_clzll(random);
    uint64_t m_q62 = random << zeros >> 1;
    uint64_t s = divide((wide)(m_q62 - one_q62) << 62, m_q62 + one_q62);
    uint64_t square = multiply_q62(s, s);
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof(inverse_q62) / sizeof(inverse_q62[0]); i++)
        sum = multiply_q62(sum, square) + inverse_q62[i];
    uint64_t ln_m_q62 = 2 * multiply_q62(sum, s);
    wide log = (wide)(zeros + 1) * ln2_q62 - ln_m_q62;
    return (uint64_t)(log >> 30);
}

uint64_t weight_gap_bytes(uint64_t random, uint64_t rate)
{
    wide gap = (wide)negative_log_q32(random == 0 ? 1 : random) * rate;
    uint64_t bytes = (uint64_t)((gap + one_q32 - 1) >> 32);
    return bytes == 0 ? 1 : bytes;
}

/* size / rate in 1/2^32, cut off at X_ENOUGH. */
static uint64_t ratio_q32(uint64_t size, uint64_t rate)
{
    if (size / rate >= X_ENOUGH)
        return (uint64_t)X_ENOUGH << 32;
    return divide((wide)size << 32, rate);
}

/* x / (1 - e^-x) in 1/2^32 for x <= 1. */
static uint64_t bernoulli_q32(uint64_t x_q32)
{
    uint64_t x2 = (uint64_t)((wide)x_q32 * x_q32 >> 32);
    uint64_t x4 = (uint64_t)((wide)x2 * x2 >> 32);
    uint64_t x6 = (uint64_t)((wide)x4 * x2 >> 32);
    uint64_t x8 = (uint64_t)((wide)x4 * x4 >> 32);
    return one_q32 + x_q32 / 2 + x2 / 12 - x4 / 720 + x6 / 30240 - x8 / 1209600;
}

/* e^-x in 1/2^62, x < X_ENOUGH. */
static uint64_t negative_exp_q62(uint64_t x_q32)
{
    /* e^-1, e^-2, e^-4, ... e^-32 */
    static const uint64_t power_q62[] = {1696544475317221319ull, 624123833502197200ull,
                                         84465975781740359ull,   1547048310802923ull,
                                         518976891834ull,        58403ull};
    uint64_t whole = x_q32 >> 32;
    uint64_t rest_q62 = (x_q32 & (one_q32 - 1)) << 30;
    /* Horner: 1 - r(1 - r/2(1 - r/3(...))); every bracket stays within [0, 1]. */
    uint64_t sum = one_q62;
    for (unsigned term = 18; term >= 1; term--)
        sum = one_q62 - multiply_q62(rest_q62, sum) / term;
    for (unsigned bit = 0; bit < 6; bit++)
        if (whole >> bit & 1)
            sum = multiply_q62(sum, power_q62[bit]);
    return sum;
}

uint64_t weight_objects_q16(uint64_t size, uint64_t rate)
{
    if (rate <= 1)
        return WEIGHT_ONE_Q16;
    if (size == 0)
        size = 1;
    uint64_t x_q32 = ratio_q32(size, rate);
    if (x_q32 >= (uint64_t)X_ENOUGH << 32)
        return WEIGHT_ONE_Q16;
    if (x_q32 <= one_q32)
        return divide((wide)bernoulli_q32(x_q32) * rate >> 16, size);
    uint64_t p_q62 = one_q62 - negative_exp_q62(x_q32);
    return divide((wide)one_q62 << 16, p_q62);
}

uint64_t weight_bytes(uint64_t size, uint64_t weight_q16)
{
    return (uint64_t)((wide)size * weight_q16 >> 16);
}
