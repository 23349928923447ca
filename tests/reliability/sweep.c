// SPDX-License-Identifier: Apache-2.0
#include "sweep.h"

#include "support/check.h"
#include "instruction_sets.h"

#define CHUNK 4093 // no multiple of a vector

typedef struct format {
    int width, mantissa, smallest, largest; // bits, bits, exponents of normal numbers
} format;

static format format_of(tern_dtype dtype)
{
    if (dtype == TERN_FLOAT16)
        return (format){16, 10, -14, 15};
    if (dtype == TERN_BFLOAT16)
        return (format){16, 7, -126, 127};
    if (dtype == TERN_FLOAT64)
        return (format){64, 52, -1022, 1023};
    return (format){32, 23, -126, 127};
}

// ---- inputs ------------------------------------------------------------------------------------

// Where functions of this library change their ways, overflow, or have a special value.
static const real landmarks[] = {
    0,
    -0.0L,
    1,
    -1,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-149L,
    -0x1p-149L,
    0x1p-126L,
    -0x1p-126L,
    0x1.fffffep127L,
    -0x1.fffffep127L,
    88.722839L,
    88.72284L,
    -87.33655L,
    -103.97208L,
    -103.97209L,
    -104,
    89,
    0.625L,
    -0.625L,
    0.5L,
    2,
    3,
    -2,
    -3,
    0x1p20L,
    0x1p-1074L,
    1e30L,
    -1e30L,
    1.5707964L,
    3.1415927L,
    -3.1415927L,
    0x1p23L,
    -0x1p24L,
    0x1p-25L,
    -0x1p-25L,
    0.70710677L,
    1.4142135L,
    -0.99999994L,
    20,
    -20,
    14,
    -14,
    10,
    -5.5L,
    0x1.fffffep-1L,
    709.7827L,
    -745.1332L,
    -708.3964L,
    0x1p52L,
    0x1p53L,
    65504,
    -11.090355L,
    -13.95L,
    0x1p64L,
    0x1p74L,
    -0x1p70L,
};
enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

static uint64_t low_bits(int count)
{
    return random_word() >> (64 - count);
}

// A number of everyday size, 2^-12 to 2^8.
static uint64_t everyday_pattern(format f)
{
    uint64_t sign = random_word() & 1, exponent = (uint64_t)(1 - f.smallest - 12);
    exponent += random_word() % 20;
    return sign << (f.width - 1) | exponent << f.mantissa | low_bits(f.mantissa);
}

// Number i of `count` that are spread evenly over all patterns, at random within its part.
static uint64_t spread_pattern(format f, int64_t i, int64_t count)
{
    if (f.width == 16)
        return (uint64_t)i & 0xffff;
    uint64_t part = UINT64_MAX / (uint64_t)count;
    return ((uint64_t)i * part + random_word() % part) >> (64 - f.width);
}

// Nearby, or of the other sign, or anything.
static uint64_t partner_of(format f, uint64_t pattern)
{
    return pattern ^ low_bits(1 + (int)(random_word() % (uint64_t)f.width));
}

static tern_tensor *from_patterns(tern_dtype dtype, const uint64_t *pattern)
{
    static union {
        uint16_t half[CHUNK];
        uint32_t single[CHUNK];
        uint64_t wide[CHUNK];
    } cells;
    for (int i = 0; i < CHUNK; i++) {
        if (format_of(dtype).width == 16)
            cells.half[i] = (uint16_t)pattern[i];
        else if (dtype == TERN_FLOAT32)
            cells.single[i] = (uint32_t)pattern[i];
        else
            cells.wide[i] = pattern[i];
    }
    return tern_from_data(tern_dims(CHUNK), (const void *)&cells, .dtype = dtype);
}

// Every pair of landmarks, then again from the first.
static tern_tensor *from_landmarks(tern_dtype dtype, int input)
{
    array a = array_new(dtype, tern_dims(CHUNK));
    for (int i = 0; i < CHUNK; i++)
        a.data[i] = array_round(dtype, landmarks[(input ? i / LANDMARKS : i) % LANDMARKS]);
    tern_tensor *t = array_to_tensor(&a, tern_cpu(0), LAYOUT_CONTIGUOUS);
    array_free(&a);
    return t;
}

static tern_tensor *random_mask(void)
{
    static bool truth[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        truth[i] = random_word() & 1;
    return tern_from_data(tern_dims(CHUNK), truth);
}

// Half of the numbers are spread over all patterns, half are of everyday size.
static void make_chunk(const op_case *c, tern_dtype dtype, int64_t chunk, int64_t chunks,
                       tern_tensor **in)
{
    static uint64_t pattern[CHUNK];
    format f = format_of(dtype);
    for (int i = 0; i < CHUNK; i++) {
        int64_t number = (chunk * CHUNK + i) / 2;
        pattern[i] = random_word() & 1 && f.width > 16
                         ? everyday_pattern(f)
                         : spread_pattern(f, f.width > 16 ? number : chunk * CHUNK + i,
                                          chunks * CHUNK / 2 + 1);
    }
    for (int k = 0; k < c->inputs; k++) {
        if (c->values[k] == MASK)
            in[k] = random_mask();
        else
            in[k] = chunk ? from_patterns(dtype, pattern) : from_landmarks(dtype, k);
        for (int i = 0; i < CHUNK; i++)
            pattern[i] = partner_of(f, pattern[i]);
    }
}

// ---- errors ------------------------------------------------------------------------------------

static real ulp_of(format f, real x)
{
    int exponent = x == 0 ? f.smallest : ilogbl(x);
    exponent = exponent < f.smallest ? f.smallest : exponent > f.largest ? f.largest : exponent;
    return ldexpl(1, exponent - f.mantissa);
}

static bool zero_has_any_sign(const op_case *c)
{
    return strcmp(c->op, "relu") == 0 || strcmp(c->op, "minimum") == 0 ||
           strcmp(c->op, "maximum") == 0;
}

// What an element must be.
typedef struct element {
    real x[MAX_IN], exact;
    real floor;    // errors are measured at a number of at least this size
    real accepted; // a result that was close enough; NaN: none
    bool counts;   // in the case's domain
} element;

static bool same_number(real a, real b)
{
    return a == b && !signbit(a) == !signbit(b);
}

static real ulp_at(format f, const element *e)
{
    return ulp_of(f, fmaxl(fabsl(e->exact), e->floor));
}

// In ulp; infinity counts as the number after the largest. Infinite where one is NaN and the other
// not, or a zero's sign is wrong.
static real error_of(format f, const element *e, real got, bool any_zero)
{
    real end = ldexpl(1, f.largest + 1);
    if (isnan(e->exact) || isnan(got))
        return isnan(e->exact) && isnan(got) ? 0 : INFINITY;
    if (e->exact == 0 && got == 0)
        return any_zero || same_number(e->exact, got) ? 0 : INFINITY;
    if (isinf(got))
        got = copysignl(end, got);
    return fabsl(got - fmaxl(fminl(e->exact, end), -end)) / ulp_at(f, e);
}

// In ulp: half of one where the result is the rounded exact one; float32's 4 for what is composed,
// to which 16-bit dtypes add their own rounding. The reference has 11 bits more than float64.
static real allowed(const op_case *c, tern_dtype dtype, const element *e)
{
    real half = dtype == TERN_FLOAT64 ? 0.5L + 0x1p-9L : 0.5L;
    if (c->ulps <= 1)
        return half;
    if (format_of(dtype).width > 16)
        return 4;
    return half + 4 * ulp_at(format_of(TERN_FLOAT32), e) / ulp_at(format_of(dtype), e);
}

static real worst[TERN_BOOL + 1];

double sweep_worst(tern_dtype dtype)
{
    return (double)worst[dtype];
}

static bool element_is_close(const op_case *c, tern_dtype dtype, element *e, real got)
{
    if (!e->counts || same_number(got, e->accepted) || same_number(got, e->exact))
        return true;
    real error = error_of(format_of(dtype), e, got, zero_has_any_sign(c));
    worst[dtype] = fmaxl(worst[dtype], c->ulps > 1 ? error : 0);
    if (error <= allowed(c, dtype, e)) {
        e->accepted = got;
        return true;
    }
    print_error("%s%s%s, %s: of %La and %La it gives %La, exactly %La: %.3Lg ulp\n", c->op,
                c->note ? ", " : "", c->note ? c->note : "", tern_dtype_name(dtype), e->x[0],
                e->x[1], got, e->exact, error);
    return false;
}

// ---- the sweep ---------------------------------------------------------------------------------

// The number that a parameter is for a kernel of this dtype.
static double parameter(tern_dtype dtype, double p)
{
    return dtype == TERN_FLOAT64 ? p : (double)array_round(TERN_FLOAT32, p);
}

// Cases without special values are asked for finite numbers other than 0.
static void make_elements(const op_case *c, tern_dtype dtype, tern_tensor *const *operands,
                          element *elements)
{
    const double p[2] = {parameter(dtype, c->p[0]), parameter(dtype, c->p[1])};
    const bool wide_gelu = dtype == TERN_FLOAT64 && strncmp(c->op, "gelu", 4) == 0;
    for (int k = 0; k < c->inputs; k++) {
        array in = array_of_tensor(operands[k]);
        for (int i = 0; i < CHUNK; i++)
            elements[i].x[k] = in.data[i];
        array_free(&in);
    }
    for (element *e = elements; e < elements + CHUNK; e++) {
        e->exact = c->each(e->x, p);
        e->floor = wide_gelu ? 1e-3L * fabsl(e->x[0]) : 0;
        e->accepted = NAN;
        e->counts = c->specials || (isfinite(e->x[0]) && e->x[0] != 0);
    }
}

// Says no more than three times what is wrong.
static bool result_is_close(const op_case *c, tern_dtype dtype, element *e, tern_tensor *y)
{
    array out = array_of_tensor(y);
    int wrong = out.numel != CHUNK;
    for (int64_t i = 0; i < out.numel && wrong < 3; i++)
        wrong += !element_is_close(c, dtype, &e[i], out.data[i]);
    array_free(&out);
    return wrong == 0;
}

static bool chunk_is_close(const op_case *c, tern_dtype dtype, tern_tensor *const *operands)
{
    static element elements[CHUNK];
    bool close = true;
    make_elements(c, dtype, operands, elements);
    FOR_EACH_INSTRUCTION_SET(set)
    {
        tern_tensor *y = c->call(operands, c, &c->setups[0]);
        assert_no_error();
        if (result_is_close(c, dtype, elements, y))
            continue;
        print_error("under %s\n", instruction_set_name(set));
        close = false;
    }
    return close;
}

bool sweep_is_close(const op_case *c, tern_dtype dtype, int64_t chunks)
{
    bool close = true;
    for (int64_t chunk = 0; close && chunk < chunks; chunk++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *in[MAX_IN] = {NULL};
        make_chunk(c, dtype, chunk, chunks, in);
        close = chunk_is_close(c, dtype, in);
        tern_scope_close(scope);
    }
    return close;
}

int64_t sweep_every_half(void)
{
    return 2 + 65536 / CHUNK;
}
