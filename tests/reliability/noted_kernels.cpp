// SPDX-License-Identifier: Apache-2.0
// In C++, whose templates know the parameters of a kernel from its type.
#include "noted_kernels.h"

#include <cmath>
#include <cstdio>

static const tern_kernels *kernels;

#define SLOT_NUMBER(slot) SLOT_##slot,
enum slot_number { TERN_KERNELS(SLOT_NUMBER) };

// ---- coalesced views ----------------------------------------------------------------------------

static char not_coalesced[128]; // the first kernel that was given such views

// The views among the arguments of a call.
struct views {
    const tern_strided *at[5];
    int count;

    template <class Other> void add(Other)
    {
    }
    void add(const tern_strided *view)
    {
        if (view)
            at[count++] = view;
    }
    void add(const tern_strided *const *pair)
    {
        add(pair[0]);
        add(pair[1]);
    }
};

// Dims d and d + 1 of x's sizes are one step in all views, or one of them is no dim at all.
static bool could_be_one(const views &given, int d)
{
    const tern_strided *x = given.at[0];
    if (x->size[d] == 1 || x->size[d + 1] == 1)
        return true;
    for (int v = 0; v < given.count; v++)
        if (given.at[v]->stride[d] != given.at[v]->stride[d + 1] * x->size[d + 1])
            return false;
    return true;
}

// All views have the sizes of the first.
static void check_each(const char *kernel, const views &given)
{
    for (int d = 0; d + 1 < given.at[0]->rank; d++)
        if (could_be_one(given, d) && !not_coalesced[0])
            snprintf(not_coalesced, sizeof not_coalesced,
                     "%s is given views whose dims %d and %d could be one", kernel, d, d + 1);
}

// The place of a dim among those of a reduction: kept, folded; broadcasts, falling strides.
static double rank_of(const tern_strided *x, const tern_strided *y, int d)
{
    const double stride = fabs((double)x->stride[d]);
    const double place = stride == 0 ? -INFINITY : -stride;
    return y->size[d] == 1 ? fmax(place, -0x1p62) + 0x1p63 : place;
}

// Results of a reduction, then what is reduced.
static void check_folded(const char *kernel, const views &given)
{
    const tern_strided *x = given.at[given.count - 1], *y = given.at[0];
    // the dim that an arg_reduce goes along may have size 1
    tern_strided outer = *x;
    outer.rank -= x->rank > 0 && x->size[x->rank - 1] == 1;
    views all = {{&outer}, 1};
    for (int v = 0; v + 1 < given.count; v++)
        all.add(given.at[v]);
    check_each(kernel, all);
    for (int d = 0; d + 1 < outer.rank && !not_coalesced[0]; d++)
        if (rank_of(x, y, d) > rank_of(x, y, d + 1))
            snprintf(not_coalesced, sizeof not_coalesced,
                     "%s is given dims %d and %d in the wrong order", kernel, d, d + 1);
}

#define SLOT_NAME(slot) #slot,
static const char *const names[] = {TERN_KERNELS(SLOT_NAME)};

static void check_views(slot_number slot, const views &given)
{
    switch (slot) {
    case SLOT_fill:
    case SLOT_copy:
    case SLOT_unary:
    case SLOT_unary_grad:
    case SLOT_binary:
    case SLOT_binary_grad:
    case SLOT_where:
        check_each(names[slot], given);
        break;
    case SLOT_reduce:
    case SLOT_var:
    case SLOT_arg_reduce:
        check_folded(names[slot], given);
        break;
    default: // take views as they are
        break;
    }
}

// ---- the table ----------------------------------------------------------------------------------

// What stands in a slot of the noting table.
template <class Kernel, Kernel *tern_kernels::*SLOT, slot_number NUMBER> struct noted;
template <class... Parameters, tern_status (*tern_kernels::*SLOT)(Parameters...),
          slot_number NUMBER>
struct noted<tern_status(Parameters...), SLOT, NUMBER> {
    static long calls;
    static tern_status run(Parameters... arguments)
    {
        views given = {};
        (given.add(arguments), ...);
        calls++;
        check_views(NUMBER, given);
        return (kernels->*SLOT)(arguments...);
    }
};
template <class... Parameters, tern_status (*tern_kernels::*SLOT)(Parameters...),
          slot_number NUMBER>
long noted<tern_status(Parameters...), SLOT, NUMBER>::calls;

#define NOTED(slot) noted<tern_kernel_##slot, &tern_kernels::slot, SLOT_##slot>

#define NOTED_RUN(slot) NOTED(slot)::run,
static const tern_kernels noting = {"noting", TERN_KERNELS(NOTED_RUN)};

#define NOTED_CALLS(slot) {#slot, &NOTED(slot)::calls},
static const noted_kernel noted_kernels[] = {TERN_KERNELS(NOTED_CALLS){nullptr, nullptr}};

const tern_kernels *note_kernels(const tern_kernels *behind)
{
    kernels = behind;
    not_coalesced[0] = '\0';
    for (const noted_kernel *k = noted_kernels; k->name; k++)
        *k->calls = 0;
    return &noting;
}

const noted_kernel *all_noted_kernels(void)
{
    return noted_kernels;
}

const char *not_coalesced_views(void)
{
    return not_coalesced;
}
