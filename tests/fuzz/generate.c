// SPDX-License-Identifier: Apache-2.0
// Instructions are drawn without much care: the reference refuses those that do not fit.
#include "generate.h"

enum { PRELUDE = 6, MOST_TRIES = 600 };

generator generator_new(uint64_t seed, machine *m)
{
    generator g = {.seed = seed, .m = m};
    g.most = PRELUDE + 4 + draw(&g.seed, MOST_INSTRUCTIONS - PRELUDE - 4);
    m->may_change_saved = draw(&g.seed, 6) == 0;
    return g;
}

// ---- operands ----------------------------------------------------------------------------------

static int any_live(generator *g)
{
    int live[REGISTERS], count = 0;
    for (int i = 0; i < REGISTERS; i++)
        if (g->m->reg[i].live)
            live[count++] = i;
    return count ? live[draw(&g->seed, count)] : -1;
}

// Newer ones are more likely to lead on to something new.
static int some_live(generator *g)
{
    const int a = any_live(g), b = any_live(g);
    return g->m->reg[a].memory > g->m->reg[b].memory ? a : b;
}

static int free_register(const generator *g)
{
    for (int i = 0; i < REGISTERS; i++)
        if (!g->m->reg[i].live)
            return i;
    return -1;
}

// Mostly small, at times long enough for vectors with a tail, rarely empty.
static int random_size(generator *g)
{
    static const int sizes[] = {1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 17, 33, 0};
    const int pick = draw(&g->seed, 13);
    return pick == 12 && draw(&g->seed, 4) ? 3 : sizes[pick];
}

static double random_number(generator *g)
{
    const double number = (draw(&g->seed, 33) - 16) / 8.0;
    return number == 0 ? 0.5 : number;
}

// Sizes that have to do with those of another register, so that both can meet.
static void random_sizes(generator *g, instruction *ins)
{
    const int other = any_live(g);
    ins->count = draw(&g->seed, MOST_RANK + 1);
    for (int d = 0; d < ins->count; d++)
        ins->n[d] = random_size(g);
    if (other < 0 || draw(&g->seed, 4) == 0)
        return;
    const array *v = &g->m->reg[other];
    ins->count = v->rank;
    for (int d = 0; d < v->rank; d++)
        ins->n[d] = draw(&g->seed, 5) ? v->size[d] : 1;
}

// Another shape of as many elements.
static void random_reshape(generator *g, instruction *ins)
{
    int64_t rest = g->m->reg[ins->a].numel;
    ins->count = 1 + draw(&g->seed, 3);
    for (int d = 0; d < ins->count - 1; d++) {
        const int divisor = 1 + draw(&g->seed, 4);
        ins->n[d] = rest % divisor ? 1 : divisor;
        rest /= ins->n[d];
    }
    ins->n[ins->count - 1] = rest;
}

static void random_dims(generator *g, instruction *ins)
{
    const int rank = g->m->reg[ins->a].rank;
    ins->flag = draw(&g->seed, 2);
    for (int d = 0; d < rank; d++)
        if (draw(&g->seed, 3) == 0)
            ins->n[ins->count++] = d;
}

// A dimension, and up to three numbers below its size.
static void random_places(generator *g, instruction *ins)
{
    const array *a = &g->m->reg[ins->a];
    const int dim = a->rank ? draw(&g->seed, a->rank) : 0;
    const int size = a->rank && a->size[dim] > 0 ? (int)a->size[dim] : 1;
    ins->count = 4;
    ins->n[0] = dim;
    ins->n[1] = draw(&g->seed, size);
    ins->n[2] = 1 + draw(&g->seed, size);
    ins->n[3] = ins->op == OP_slice ? 1 + draw(&g->seed, 3) : 1;
    if (ins->op == OP_index_select)
        ins->n[3] = ins->n[1];
    if (ins->op == OP_index_select)
        ins->n[2]--;
    if (ins->op == OP_transpose)
        ins->n[1] = a->rank ? draw(&g->seed, a->rank) : 0;
    if (ins->op == OP_unsqueeze || ins->op == OP_stack)
        ins->n[0] = draw(&g->seed, a->rank + 1);
}

static void random_labels(generator *g, instruction *ins)
{
    const array *a = &g->m->reg[ins->a];
    ins->number = draw(&g->seed, 2) ? 0.25 : 0;
    if (a->rank != 2 || a->size[0] > MOST_WORDS || a->size[1] < 1)
        return;
    ins->count = (int)a->size[0];
    for (int i = 0; i < ins->count; i++)
        ins->n[i] = draw(&g->seed, (int)a->size[1]);
}

// ---- instructions ------------------------------------------------------------------------------

static void random_close(generator *g, instruction *ins)
{
    const int kept = any_live(g);
    ins->a = draw(&g->seed, 2) && g->m->reg[kept].depth == g->m->depth ? kept : -1;
}

// What needs no operand, or one that is chosen in another way.
static bool fill_in_statement(generator *g, instruction *ins)
{
    switch ((int)ins->op) {
    case OP_constant:
        random_sizes(g, ins);
        break;
    case OP_open:
    case OP_step:
    case OP_zero_grad:
        break;
    case OP_close:
        random_close(g, ins);
        break;
    case OP_clip:
        ins->number = (1 + draw(&g->seed, 16)) / 4.0;
        break;
    default:
        return false;
    }
    return true;
}

static bool fill_in_special(generator *g, instruction *ins)
{
    switch ((int)ins->op) {
    case OP_backward:
        ins->flag = draw(&g->seed, 3) == 0;
        break;
    case OP_mistake:
        ins->n[ins->count++] = draw(&g->seed, 6);
        break;
    case OP_reshape:
        random_reshape(g, ins);
        break;
    case OP_expand:
        random_sizes(g, ins);
        break;
    case OP_cross_entropy:
        random_labels(g, ins);
        break;
    case OP_linear:
        ins->b = any_live(g);
        ins->c = draw(&g->seed, 3) ? any_live(g) : -1;
        ins->n[ins->count++] = draw(&g->seed, 2);
        break;
    case OP_where:
        ins->b = any_live(g);
        ins->c = any_live(g);
        break;
    case OP_loader:
        ins->n[0] = 1 + draw(&g->seed, 5);
        ins->n[1] = draw(&g->seed, 2);
        ins->count = 2;
        break;
    default:
        return false;
    }
    return true;
}

static bool takes_two(op_code op)
{
    return (op >= OP_add && op <= OP_maximum) || op == OP_cat || op == OP_stack ||
           op == OP_matmul || op == OP_mse_loss || op == OP_copy_ || op == OP_add_ || op == OP_mul_;
}

static void fill_in(generator *g, instruction *ins)
{
    if (fill_in_statement(g, ins))
        return;
    ins->a = some_live(g);
    if (fill_in_special(g, ins))
        return;
    ins->number = random_number(g);
    if (takes_two(ins->op))
        ins->b = any_live(g);
    if (ins->op >= OP_sum && ins->op <= OP_amin)
        random_dims(g, ins);
    else if (ins->op >= OP_softmax && ins->op <= OP_stack && ins->op != OP_detach &&
             ins->op != OP_clone)
        random_places(g, ins);
    if (ins->op == OP_var)
        ins->number = draw(&g->seed, 2);
    if (ins->op == OP_pow_scalar)
        ins->number = 2 + draw(&g->seed, 2);
}

static bool makes_a_tensor(op_code op)
{
    return op < OP_copy_ || op == OP_leaf || op == OP_constant || op == OP_hooked ||
           op == OP_loader;
}

static bool try_one(generator *g, instruction *ins, op_code op)
{
    *ins = (instruction){.op = op, .out = -1, .a = -1, .b = -1, .c = -1};
    if (makes_a_tensor(op) && (ins->out = free_register(g)) < 0)
        return false;
    ins->seed = (uint64_t)draw(&g->seed, 1 << 30);
    fill_in(g, ins);
    ins->no_grad = op <= OP_hooked && op != OP_leaf && draw(&g->seed, 8) == 0;
    return machine_run(g->m, ins);
}

// Leaves, which make it likely that matrices meet, and an optimizer of them.
static bool begin(generator *g, instruction *ins)
{
    static const int ranks[] = {2, 2, 1, 3};
    const int number = g->made;
    *ins = (instruction){.op = OP_leaf, .out = number, .a = -1, .b = -1, .c = -1};
    ins->seed = (uint64_t)draw(&g->seed, 1 << 30);
    if (number >= MOST_LEAVES) {
        ins->op = number == MOST_LEAVES ? OP_optim : OP_constant;
        ins->out = ins->op == OP_optim ? -1 : number;
    }
    ins->count = number < MOST_LEAVES ? ranks[number] : 2;
    for (int d = 0; d < ins->count; d++)
        ins->n[d] = 1 + draw(&g->seed, 4);
    if (number > 0 && number < MOST_LEAVES)
        ins->n[ins->count - 1] = g->m->reg[0].size[draw(&g->seed, 2)];
    if (ins->op == OP_optim) {
        ins->count = 1;
        ins->n[0] = draw(&g->seed, OPTIM_KINDS);
    }
    return machine_run(g->m, ins);
}

bool generator_next(generator *g, instruction *ins)
{
    if (g->made == g->most)
        return false;
    g->made++;
    if (g->made <= PRELUDE) {
        g->made--;
        const bool begun = begin(g, ins);
        g->made++;
        return begun;
    }
    for (int i = 0; i < MOST_TRIES; i++) {
        // What trains is drawn more often than any one operation.
        static const op_code often[] = {OP_backward, OP_backward, OP_step, OP_zero_grad, OP_clip};
        const op_code op =
            draw(&g->seed, 12) == 0 ? often[draw(&g->seed, 5)] : (op_code)draw(&g->seed, OP_COUNT);
        if (op == OP_leaf || op == OP_optim || !try_one(g, ins, op))
            continue;
        if (ins->may_refuse)
            g->most = g->made; // the backward may fail: the program ends with it
        return true;
    }
    return false;
}
