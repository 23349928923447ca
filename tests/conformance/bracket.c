// SPDX-License-Identifier: Apache-2.0
// Every operation ends its call by tern_op_end: what it returns was seen by the thread's observer.
#include "bracket.h"

#include "autograd/op.h"
#include "support/check.h"
#include "conformance.h"

// Operations that end in the bracket of another one, which does their work.
static const struct alias {
    const char *op, *ends_in;
} aliases[] = {
    {"view", "reshape"},
    {"flatten", "reshape"},
    {"squeeze", "reshape"},
    {"unsqueeze", "reshape"},
    {"unflatten", "reshape"},
    {"softmin", "softmax"},
    {"normalize", "div"},
    {"stack", "cat"},
    {"split", "slice"},
    {"chunk", "slice"},
    {"multi_margin_loss", "mean"},
    {"multi_margin_loss", "sum"},
    {"multilabel_margin_loss", "mean"},
    {"multilabel_margin_loss", "sum"},
    {"multilabel_soft_margin_loss", "mean"},
};

// They make a tensor of no other tensor's values.
static const char *const creators[] = {"arange", "full_like"};

// The descriptors of the calls that ended since, and their first results.
typedef struct seen_calls {
    const tern_op *op[16];
    const tern_tensor *y[16];
    int count;
} seen_calls;

static void note(const tern_op_call *call, tern_tensor *const *y, int outputs, void *user)
{
    seen_calls *seen = user;
    for (int i = 0; i < outputs; i++) {
        seen->op[seen->count % 16] = call->op;
        seen->y[seen->count % 16] = y[i];
        seen->count++;
    }
}

static bool is_of(const char *name, const op_case *c)
{
    const char *op = c->like ? c->like : c->op;
    if (strcmp(name, op) == 0)
        return true;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].op, op) == 0 && strcmp(aliases[i].ends_in, name) == 0)
            return true;
    return false;
}

static bool was_seen(const seen_calls *seen, const tern_tensor *y, const op_case *c)
{
    for (int i = 0; i < seen->count && i < 16; i++)
        if (seen->y[i] == y && is_of(seen->op[i]->name, c))
            return true;
    return false;
}

static bool is_creator(const op_case *c)
{
    for (size_t i = 0; i < sizeof creators / sizeof *creators; i++)
        if (strcmp(creators[i], c->op) == 0)
            return true;
    return false;
}

typedef enum ending {
    UNCHANGED, // the operation had nothing to do and returned its operand
    MISSED,
    FOUND
} ending;

// Of one setup in one dtype.
static ending ending_of(const op_case *c, const setup *s, tern_dtype dtype, array_layout layout,
                        tern_device device)
{
    seen_calls seen = {.count = 0};
    array in[MAX_IN] = {{0}};
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    random_seed(3);
    make_inputs(c, s, dtype, false, in);
    for (int i = 0; i < c->inputs; i++)
        operands[i] = array_to_tensor(&in[i], device, layout);
    const tern_op_observer observer = {note, &seen, NULL};
    const tern_op_observer *before = tern_op_observe(&observer);
    const tern_tensor *y = c->call(operands, c, s);
    tern_op_observe(before);
    ending found = was_seen(&seen, y, c) ? FOUND : MISSED;
    for (int i = 0; i < c->inputs; i++)
        found = y == operands[i] && found != FOUND ? UNCHANGED : found;
    tern_scope_close(scope);
    for (int i = 0; i < MAX_IN; i++)
        array_free(&in[i]);
    return found;
}

static bool ends_in_the_bracket(const op_case *c, tern_device device)
{
    ending all = UNCHANGED;
    for (int k = 0; k < c->setup_count && all == UNCHANGED; k++)
        for (tern_dtype dtype = TERN_FLOAT32; dtype <= TERN_BOOL && all == UNCHANGED; dtype++)
            for (int l = 0; c->dtypes & 1u << dtype && l < 2 && all == UNCHANGED; l++)
                all = ending_of(c, &c->setups[k], dtype, l ? LAYOUT_TRANSPOSED : LAYOUT_CONTIGUOUS,
                                device);
    return all != MISSED;
}

static int count_missed(const case_list *list, tern_device device)
{
    int missed = 0;
    for (int i = 0; i < list->count; i++) {
        const op_case *c = &list->cases[i];
        if (is_creator(c) || ends_in_the_bracket(c, device))
            continue;
        print_error("what tern_%s%s%s returns went through no tern_op_end of its name\n", c->op,
                    c->note ? ", " : "", c->note ? c->note : "");
        missed++;
    }
    return missed;
}

void check_brackets(tern_device device)
{
    int missed = count_missed(module_cases(), device);
    for (int k = 0; k < OPERATION_LISTS; k++)
        missed += count_missed(operation_cases[k], device);
    assert_int_equal(missed, 0);
}
