// SPDX-License-Identifier: Apache-2.0
// Programs as text, one instruction a line, for torch_programs.py.
#include "program.h"

#define FUZZ_NAME(name) #name,
const char *const op_names[OP_COUNT] = {FUZZ_ALL(FUZZ_NAME)};

// Steele et al. 2014 (SplitMix64).
static uint64_t next_of(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int draw(uint64_t *seed, int limit)
{
    return (int)(next_of(seed) % (uint64_t)limit);
}

double element_of(uint64_t seed, int64_t i)
{
    uint64_t own = seed * 1000003 + (uint64_t)i;
    return (draw(&own, 65) - 32) / 16.0;
}

void instruction_write(const instruction *ins, FILE *file)
{
    fprintf(file, "%s %d %d %d %d %.17g %d %d %d %llu", op_names[ins->op], ins->out, ins->a, ins->b,
            ins->c, ins->number, ins->no_grad, ins->flag, ins->may_refuse,
            (unsigned long long)ins->seed);
    for (int i = 0; i < ins->count; i++)
        fprintf(file, " %lld", (long long)ins->n[i]);
    fputc('\n', file);
}
