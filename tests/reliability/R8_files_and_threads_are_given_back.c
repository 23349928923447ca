// SPDX-License-Identifier: Apache-2.0
// Every test program is watched by leftovers.c; here it is shown that the watching finds something,
// and that a training run leaves nothing.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

// ---- what the program does when it is started with "act" and one of these names -----------------

static int leave_a_file(void)
{
    return open("/dev/null", O_RDONLY) < 0;
}

static int close_a_file(void)
{
    return close(STDIN_FILENO);
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static int leave_a_thread(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, wait_for_ever, NULL);
}

static int leave_a_mapping(void)
{
    char path[] = "/tmp/tern-mapping-XXXXXX";
    int file = mkstemp(path);
    bool failed = file < 0 || ftruncate(file, 4096) || unlink(path) ||
                  mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED;
    return close(file) || failed;
}

// One epoch on two threads from files on disk, nothing shut down.
static int train(void)
{
    const char *directory = getenv("TERN_TEST_DATA");
    if (tern_set_num_threads(2))
        return 1;
    tern_dataset *set = directory && access(directory, R_OK) == 0
                            ? tern_data_mnist(directory, TERN_TEST)
                            : tern_data_tensors(tern_zeros(tern_dims(1000, 1, 28, 28)),
                                                tern_zeros(tern_dims(1000), .dtype = TERN_INT64));
    tern_loader *loader = tern_loader_new(set, .batch_size = 500, .shuffle = true);
    tern_module *net = tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 10));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *optim = tern_optim_adam(net);
    tern_batch b;
    while (tern_loader_next(loader, &b)) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
        tern_optim_zero_grad(optim);
        if (tern_backward(loss) || tern_optim_step(optim))
            break;
    }
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    return tern_error_pending() ? tern_error_print(stderr) : 0;
}

static int fail_to_open(void)
{
    bool refused = !tern_idx_read("/nowhere/at/all") && !tern_idx_read("/proc/self/exe") &&
                   !tern_idx_read("/dev/null") && !tern_idx_read("/tmp");
    tern_error_clear();
    return !refused;
}

static const struct {
    const char *name;
    int (*act)(void);
} acts[] = {
    {"leave_a_file", leave_a_file},       {"close_a_file", close_a_file},
    {"leave_a_thread", leave_a_thread},   {"train", train},
    {"leave_a_mapping", leave_a_mapping}, {"fail_to_open", fail_to_open},
};

static int act(const char *name)
{
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, name) == 0)
            return acts[i].act() ? 2 : 0;
    return 2;
}

// ---- tests --------------------------------------------------------------------------------------

// The exit status of this program started with `name`, and what it said.
static int run_as(const char *name, char said[512])
{
    int pipes[2], status = -1;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execl("/proc/self/exe", "R8", "act", name, (char *)NULL);
        _exit(99);
    }
    close(pipes[1]);
    size_t length = 0;
    for (ssize_t got; (got = read(pipes[0], said + length, 511 - length)) > 0;)
        length += (size_t)got;
    said[length] = 0;
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_found(const char *name, const char *words)
{
    char said[512];
    assert_int_equal(run_as(name, said), 1);
    if (!strstr(said, words))
        fail_msg("\"%s\" does not contain \"%s\"", said, words);
}

static void assert_clean(const char *name)
{
    char said[512];
    int status = run_as(name, said);
    if (status != 0)
        fail_msg("%s ended with %d: %s", name, status, said);
}

static void a_file_left_open_fails_the_program(void **state)
{
    (void)state;
    assert_found("leave_a_file", "/dev/null");
    assert_found("close_a_file", "closed: file 0");
}

static void a_thread_left_running_fails_the_program(void **state)
{
    (void)state;
    assert_found("leave_a_thread", "threads: ");
}

static void a_mapped_temporary_file_fails_the_program(void **state)
{
    (void)state;
    assert_found("leave_a_mapping", "mappings of temporary files: ");
}

static void training_leaves_nothing_after_shutdown(void **state)
{
    (void)state;
    assert_clean("train");
}

static void files_that_are_refused_are_closed(void **state)
{
    (void)state;
    assert_clean("fail_to_open");
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "act") == 0)
        return act(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_left_open_fails_the_program),
        cmocka_unit_test(a_thread_left_running_fails_the_program),
        cmocka_unit_test(a_mapped_temporary_file_fails_the_program),
        cmocka_unit_test(training_leaves_nothing_after_shutdown),
        cmocka_unit_test(files_that_are_refused_are_closed),
    };
    return cmocka_run_group_tests_name("files and threads are given back", tests, NULL, NULL);
}
