// SPDX-License-Identifier: Apache-2.0
// The same program gives the same bits: whole trainings in one process and in fresh ones, every
// operation and every kernel wherever its operands lie. With --bits it only prints those of its
// trainings.
#include <inttypes.h>
#include <unistd.h>

#include "bits.h"
#include "case_bits.h"
#include "cpu/backend.h"
#include "instruction_sets.h"
#include "manifest.h"
#include "noted_kernels.h"
#include "runs.h"

#define RUNS 3

static const run_size small_run = {.batch = 16, .in = 20, .hidden = 32, .classes = 5, .steps = 200};

static const char *include_dir;

// ---- trainings ---------------------------------------------------------------------------------

static uint64_t bits_of_all_trainings(void)
{
    uint64_t hash = NO_BITS;
    for (int o = 0; o < run_optimizers(); o++)
        for (int l = 0; l < run_losses(); l++)
            hash = hash * 31 + run_bits(o, l, small_run);
    return hash;
}

static uint64_t bits_of_a_fresh_process(void)
{
    char self[1024] = {0}, command[1100], line[64] = {0};
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(command, sizeof command, "'%s' --bits", self);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    assert_int_equal(pclose(pipe), 0);
    return strtoull(line, NULL, 16);
}

// Three runs here, and then three processes: this one and two fresh ones.
static void every_optimizer_and_loss_repeats_200_steps(void **state)
{
    (void)state;
    check_runs_are_complete(include_dir);
    uint64_t first = bits_of_all_trainings();
    for (int run = 1; run < RUNS; run++)
        assert_true(bits_of_all_trainings() == first);
    for (int process = 1; process < RUNS; process++)
        assert_true(bits_of_a_fresh_process() == first);
    print_message("%d trainings of %d steps: %016" PRIx64 "\n", run_optimizers() * run_losses(),
                  small_run.steps, first);
}

// ---- operations and kernels --------------------------------------------------------------------

static int cases_repeated;

// The lesser instruction sets repeat float32 and int64 only.
static bool is_best_set;

// Twice as it is, then from other places in memory.
static void case_repeats(const op_case *c)
{
    for (tern_dtype dtype = TERN_FLOAT32; dtype <= TERN_BOOL; dtype++) {
        if (!is_best_set && dtype != TERN_FLOAT32 && dtype != TERN_INT64)
            continue;
        for (int k = 0; c->dtypes & 1u << dtype && k < c->setup_count; k++) {
            array in[MAX_IN] = {{0}};
            random_seed(11);
            make_inputs(c, &c->setups[k], dtype, false, in);
            uint64_t first = case_bits(c, &c->setups[k], dtype, in, false);
            if (case_bits(c, &c->setups[k], dtype, in, false) != first ||
                case_bits(c, &c->setups[k], dtype, in, true) != first)
                fail_msg("%s: other bits when repeated", name_of_run(c, k, dtype, 0).text);
            for (int i = 0; i < MAX_IN; i++)
                array_free(&in[i]);
        }
    }
    cases_repeated++;
}

// Draws and fills, which no case has.
static uint64_t made_tensors(void)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(9);
    uint64_t hash = bits_of(tern_rand(tern_dims(1001)), NO_BITS);
    hash = bits_of(tern_randn(tern_dims(1001)), hash);
    hash = bits_of(tern_randint(0, 9, tern_dims(1001)), hash);
    hash = bits_of(tern_randperm(1001), hash);
    hash = bits_of(tern_bernoulli_like(tern_zeros(tern_dims(1001)), 0.3, NULL), hash);
    hash = bits_of(tern_dropout(tern_ones(tern_dims(1001)), 0.3, true), hash);
    hash = bits_of(tern_full(tern_dims(17), 0.1), hash);
    hash = bits_of(tern_linspace(0, 1, 1001), hash);
    hash = bits_of(tern_eye(9, 9), hash);
    tern_scope_close(scope);
    return hash;
}

// Takes the kernels of a set, and notes their calls; false where there is none.
static bool note_instruction_set(int set)
{
    const tern_kernels *kernels = tern_cpu_kernel_table_for(instruction_set_name(set));
    if (kernels)
        use_kernels(NOTES_KERNELS ? note_kernels(kernels) : kernels);
    return kernels != NULL;
}

static int check_all_kernels_were_called(void)
{
    int count = 0;
    for (const noted_kernel *k = all_noted_kernels(); k->name; k++, count++)
        if (*k->calls < 2)
            fail_msg("the kernel %s was called %ld times", k->name, *k->calls);
    assert_true(count > 20);
    assert_string_equal(not_coalesced_views(), "");
    return count;
}

static void every_operation_and_every_kernel_repeats(void **state)
{
    (void)state;
    check_manifest(include_dir);
    const run_size short_run = {.batch = 16, .in = 20, .hidden = 32, .classes = 5, .steps = 3};
    for (int set = 0; set < INSTRUCTION_SETS; set++) {
        is_best_set = set + 1 == INSTRUCTION_SETS || !use_instruction_set(set + 1);
        if (!note_instruction_set(set))
            continue;
        cases_repeated = 0;
        each_case(case_repeats);
        assert_true(made_tensors() == made_tensors());
        for (int o = 0; o < run_optimizers(); o++)
            assert_true(run_bits(o, 0, short_run) == run_bits(o, 0, short_run));
        for (int l = 1; l < run_losses(); l++)
            assert_true(run_bits(0, l, short_run) == run_bits(0, l, short_run));
        print_message("%s: %d cases, %d kernels\n", instruction_set_name(set), cases_repeated,
                      NOTES_KERNELS ? check_all_kernels_were_called() : 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_optimizer_and_loss_repeats_200_steps),
        cmocka_unit_test(every_operation_and_every_kernel_repeats),
    };
    for (int set = 0; set < INSTRUCTION_SETS; set++)
        (void)use_instruction_set(set); // the last is the best
    if (argc > 1 && strcmp(argv[1], "--bits") == 0) {
        printf("%016" PRIx64 "\n", bits_of_all_trainings());
        tern_shutdown();
        return 0;
    }
    include_dir = argc > 1 ? argv[1] : "include";
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
