// SPDX-License-Identifier: Apache-2.0
// Random programs over the public interface (views, changes in place, gradients, scopes, hooks,
// loaders, optimizers, errors) give what a slow reference in double gives, in float64 and float32:
// every tensor that a program made, and every gradient.
//
// TERN_TEST_SEED chooses the first program, TERN_TEST_LONG does 20 times as many.
// `test_programs write FIRST COUNT` writes programs and the reference's numbers for PyTorch.
#include "generate.h"
#include "run_tern.h"
#include "support/instrumented.h"

enum { PROGRAMS = INSTRUMENTED ? 3000 : 30000 };

typedef struct tally {
    int instructions, backwards, refused, values;
    int of[OP_COUNT];
} tally;

// ---- comparing ---------------------------------------------------------------------------------

static void read_elements(tern_tensor *t, double *out)
{
    tern_scope scope = tern_scope_open();
    bool before = tern_set_grad_enabled(false);
    tern_tensor *wide = tern_to_dtype(tern_to(t, tern_cpu(0)), TERN_FLOAT64);
    assert_no_error();
    assert_int_equal(tern_to_host(wide, out, (size_t)tern_numel(wide) * sizeof *out), TERN_OK);
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
}

static bool same_shape(const array *v, const tern_tensor *t)
{
    bool same = tern_rank(t) == v->rank;
    for (int d = 0; same && d < v->rank; d++)
        same = tern_size(t, d) == v->size[d];
    return same;
}

// Errors are bounds in units of the last place, to the first order.
static bool is_near(double actual, double expected, double error, tern_dtype dtype)
{
    const double unit = dtype == TERN_FLOAT64 ? 0x1p-52 : 0x1p-23;
    return fabs(actual - expected) <= 8 * unit * error;
}

typedef struct mismatch {
    char text[300];
} mismatch;

static bool value_agrees(machine *m, runner *r, int reg, mismatch *wrong)
{
    const array *v = &m->reg[reg];
    double actual[MOST_NUMEL];
    if (!same_shape(v, r->reg[reg])) {
        snprintf(wrong->text, sizeof wrong->text, "register %d has another shape", reg);
        return false;
    }
    read_elements(r->reg[reg], actual);
    for (int i = 0; i < v->numel; i++) {
        const scalar *n = &m->nodes[m->place[v->place[i]]];
        if (!is_near(actual[i], n->value, n->error, r->dtype)) {
            snprintf(wrong->text, sizeof wrong->text,
                     "register %d, element %d: %.17g, expected %.17g (error %g units)", reg, i,
                     actual[i], n->value, n->error);
            return false;
        }
    }
    return true;
}

static bool gradient_agrees(machine *m, runner *r, int number, mismatch *wrong)
{
    const leaf *l = &m->leaves[number];
    tern_tensor *grad = tern_grad(r->leaves[number]);
    double actual[MOST_NUMEL] = {0};
    assert_no_error();
    if (!l->unsure && (grad != NULL) != l->has_grad) {
        snprintf(wrong->text, sizeof wrong->text, "leaf %d: the gradient is %s", number,
                 grad ? "there" : "absent");
        return false;
    }
    if (grad)
        read_elements(grad, actual);
    for (int i = 0; (grad || l->unsure) && i < m->reg[l->reg].numel; i++)
        if (!is_near(actual[i], l->grad[i], l->error[i], r->dtype)) {
            snprintf(wrong->text, sizeof wrong->text,
                     "gradient of leaf %d, element %d: %.17g, expected %.17g (error %g units)",
                     number, i, actual[i], l->grad[i], l->error[i]);
            return false;
        }
    return true;
}

static bool all_agrees(machine *m, runner *r, mismatch *wrong, tally *t)
{
    for (int i = 0; i < REGISTERS; i++) {
        if (m->reg[i].live && !value_agrees(m, r, i, wrong))
            return false;
        t->values += m->reg[i].live ? m->reg[i].numel : 0;
    }
    for (int i = 0; i < m->leaf_count; i++)
        if (!gradient_agrees(m, r, i, wrong))
            return false;
    return true;
}

// ---- running -----------------------------------------------------------------------------------

static void say_program(const program *p, const mismatch *wrong, tern_dtype dtype)
{
    for (int i = 0; i < p->count; i++)
        instruction_write(&p->at[i], stderr);
    fail_msg("TERN_TEST_SEED=%llu, %s: after the last of these instructions: %s",
             (unsigned long long)p->seed, tern_dtype_name(dtype), wrong->text);
}

// False when the program ends here: a backward found a saved value changed.
static bool run_one(machine *m, runner *r, const program *p, tally *t)
{
    const instruction *ins = &p->at[p->count - 1];
    mismatch wrong = {""};
    const tern_status status = runner_run(r, ins);
    t->instructions++;
    t->of[ins->op]++;
    t->backwards += ins->op == OP_backward;
    if (status == TERN_ERR_STATE && ins->may_refuse) {
        assert_error(TERN_ERR_STATE, "was changed in place");
        t->refused++;
        return false;
    }
    if (status || tern_error_pending()) {
        tern_error_take(wrong.text, sizeof wrong.text);
        say_program(p, &wrong, r->dtype);
    }
    if (ins->out >= 0 && !value_agrees(m, r, ins->out, &wrong))
        say_program(p, &wrong, r->dtype);
    const bool changes = ins->out < 0;
    if (changes && !all_agrees(m, r, &wrong, t))
        say_program(p, &wrong, r->dtype);
    return true;
}

static void run_program(uint64_t seed, tern_dtype dtype, tally *t)
{
    const int64_t live = tern_live_tensors();
    machine *m = machine_new();
    generator g = generator_new(seed, m);
    program p = {.seed = seed};
    runner r;
    runner_begin(&r, dtype, tern_cpu(0));
    while (generator_next(&g, &p.at[p.count])) {
        p.count++;
        if (!run_one(m, &r, &p, t))
            break;
    }
    runner_end(&r);
    if (tern_live_tensors() != live)
        fail_msg("TERN_TEST_SEED=%llu leaves %lld tensors alive", (unsigned long long)seed,
                 (long long)(tern_live_tensors() - live));
    machine_free(m);
}

static void programs_give_what_the_reference_gives(void **state)
{
    (void)state;
    const char *text = getenv("TERN_TEST_SEED");
    const uint64_t first = text ? strtoull(text, NULL, 10) : 1;
    const uint64_t count = getenv("TERN_TEST_LONG") ? 20 * PROGRAMS : PROGRAMS;
    tally t = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        run_program(seed, TERN_FLOAT64, &t);
        run_program(seed, TERN_FLOAT32, &t);
    }
    print_message("TERN_TEST_SEED=%llu: %llu programs in two dtypes, %d instructions, "
                  "%d backwards (%d refused), %d values\n",
                  (unsigned long long)first, (unsigned long long)count, t.instructions, t.backwards,
                  t.refused, t.values);
    for (int op = 0; op < OP_COUNT; op++)
        if (t.of[op] < 20)
            fail_msg("%s was run %d times", op_names[op], t.of[op]);
    assert_true(t.refused > 0 && t.backwards > 2 * t.refused);
}

// ---- writing -----------------------------------------------------------------------------------

static void write_expected(const machine *m, const instruction *ins)
{
    const array *v = ins->out < 0 ? NULL : &m->reg[ins->out];
    for (int i = 0; v && i < v->numel; i++)
        printf("%s%.17g", i ? " " : "value ", machine_value(m, m->place[v->place[i]]));
    if (v && v->numel)
        putchar('\n');
    for (int l = 0; ins->out < 0 && l < m->leaf_count; l++) {
        const leaf *own = &m->leaves[l];
        printf("gradient %d %d", l, own->has_grad && !own->unsure);
        for (int i = 0; i < m->reg[own->reg].numel; i++)
            printf(" %.17g %.17g", machine_value(m, m->place[m->reg[own->reg].place[i]]),
                   own->has_grad ? own->grad[i] : 0);
        putchar('\n');
    }
}

static int write_programs(uint64_t first, uint64_t count)
{
    for (uint64_t seed = first; seed < first + count; seed++) {
        machine *m = machine_new();
        generator g = generator_new(seed, m);
        instruction ins;
        printf("program %llu\n", (unsigned long long)seed);
        while (generator_next(&g, &ins)) {
            instruction_write(&ins, stdout);
            write_expected(m, &ins);
        }
        machine_free(m);
    }
    return ferror(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "write") == 0)
        return write_programs(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_give_what_the_reference_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
