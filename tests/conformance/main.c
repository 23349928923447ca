// SPDX-License-Identifier: Apache-2.0
// conformance INCLUDE_DIR [DEVICE [OPERATION | PART/PARTS]]: every case on one device, those of one
// operation, or every PARTS-th from the PART-th on. TERN_TEST_SEED chooses the numbers.
#include "bracket.h"
#include "support/check.h"
#include "conformance.h"
#include "manifest.h"

#define MOST_TESTS 4096
#define ALWAYS     3 // tests that are no case

typedef struct job {
    const op_case *c;
    bool gradient;
    char name[96];
} job;

static tern_device device;
static const char *include_dir;
static uint64_t seed = 20241;
static job jobs[MOST_TESTS];
static struct CMUnitTest tests[MOST_TESTS];
static size_t test_count;
static size_t part = 1, parts = 1; // every `parts`-th of them from the `part`-th on

static void run_job(void **state)
{
    const job *j = *state;
    random_seed(seed);
    if (j->gradient)
        check_gradient(j->c, device);
    else
        check_forward(j->c, device);
}

static void every_operation_of_the_headers_is_covered(void **state)
{
    (void)state;
    check_manifest(include_dir);
}

static void every_module_optimizer_and_dataset_of_the_headers_is_in_the_tables(void **state)
{
    (void)state;
    check_public_objects(include_dir);
}

static void every_operation_ends_its_call_in_the_bracket(void **state)
{
    (void)state;
    check_brackets(device);
}

static void add_job(const op_case *c, bool gradient)
{
    job *j = &jobs[test_count];
    if (test_count == MOST_TESTS - ALWAYS) {
        fprintf(stderr, "there are more than MOST_TESTS cases\n");
        abort();
    }
    *j = (job){.c = c, .gradient = gradient};
    snprintf(j->name, sizeof j->name, "%s%s%s%s %s", c->op, c->note ? " (" : "",
             c->note ? c->note : "", c->note ? ")" : "",
             gradient ? "has_the_gradient_of_its_differences" : "gives_what_the_reference_gives");
    tests[test_count++] = (struct CMUnitTest){j->name, run_job, NULL, NULL, j};
}

static void add_cases(const case_list *list, const char *only)
{
    for (int i = 0; i < list->count; i++) {
        if (only && strcmp(list->cases[i].op, only) != 0)
            continue;
        add_job(&list->cases[i], false);
        if (list->cases[i].gradients)
            add_job(&list->cases[i], true);
    }
}

static bool read_part(const char *text)
{
    size_t first, step;
    if (sscanf(text, "%zu/%zu", &first, &step) != 2 || first == 0 || step == 0)
        return false;
    part = first;
    parts = step;
    return true;
}

static void keep_part(void)
{
    size_t kept = 0;
    for (size_t i = part - 1; i < test_count; i += parts)
        tests[kept++] = tests[i];
    test_count = kept;
}

static void take_arguments(int argc, char **argv)
{
    const char *text = getenv("TERN_TEST_SEED");
    if (text)
        seed = strtoull(text, NULL, 0);
    if (argc > 2 && strncmp(argv[2], "cuda", 4) == 0 && cuda_missing())
        exit(cuda_missing());
    if (argc < 2 || tern_device_parse(argc > 2 ? argv[2] : "cpu", &device)) {
        fputs("usage: conformance INCLUDE_DIR [DEVICE [OPERATION | PART/PARTS]]\n", stderr);
        tern_error_print(stderr);
        exit(1);
    }
    include_dir = argv[1];
    printf("device %s, TERN_TEST_SEED=%llu\n", tern_device_string(device),
           (unsigned long long)seed);
}

int main(int argc, char **argv)
{
    const char *only = argc > 3 && !read_part(argv[3]) ? argv[3] : NULL;
    take_arguments(argc, argv);
    for (int k = 0; k < OPERATION_LISTS; k++)
        add_cases(operation_cases[k], only);
    add_cases(module_cases(), only);
    if (!only) {
        tests[test_count++] =
            (struct CMUnitTest)cmocka_unit_test(every_operation_of_the_headers_is_covered);
        tests[test_count++] = (struct CMUnitTest)cmocka_unit_test(
            every_module_optimizer_and_dataset_of_the_headers_is_in_the_tables);
        tests[test_count++] =
            (struct CMUnitTest)cmocka_unit_test(every_operation_ends_its_call_in_the_bracket);
    }
    keep_part();
    if (test_count == 0) {
        fprintf(stderr, "there is no case of %s\n", argv[3]);
        return 1;
    }
    return _cmocka_run_group_tests("conformance", tests, test_count, NULL, NULL);
}
