// SPDX-License-Identifier: Apache-2.0
// R41: without a driver, a plugin or a device there are no CUDA devices, the reason is said in
// words, and everything on the CPU works. The plugin is chosen once in a process, so each case has
// one of its own.
#include <sys/wait.h>
#include <unistd.h>
#include "support/check.h"

static char **arguments;

// What a process says that begins with these settings; NULL leaves one out.
static const char *reason_with(const char *plugin, const char *devices)
{
    static char text[1024];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("TERN_CUDA_PLUGIN");
        if (plugin)
            setenv("TERN_CUDA_PLUGIN", plugin, 1);
        if (devices)
            setenv("CUDA_VISIBLE_DEVICES", devices, 1);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", arguments[0], "tell", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    text[fread(text, 1, sizeof text - 1, answer)] = '\0';
    fclose(answer);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return text;
}

static void train_on_the_cpu(void)
{
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *optim = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *y = tern_forward(net, tern_ones(tern_dims(4, 3)));
    if (tern_backward(tern_sum(y, TERN_ALL_AXES, false)) || tern_optim_step(optim))
        exit(3);
    tern_optim_free(optim);
    tern_module_free(net);
}

// The child's part, where there are devices.
static int tell_visible(void)
{
    printf("%s|", tern_cuda_reason());
    if (tern_zeros(tern_dims(1), .device = tern_cuda(60)))
        return 2;
    printf("%s", tern_error_message());
    return 0;
}

// The child's part.
static int tell(void)
{
    if (tern_cuda_device_count() > 0)
        return tell_visible();
    if (tern_cuda_is_available() || tern_cuda_device_count() != 0 ||
        !tern_device_equal(tern_device_best(), tern_cpu(0)))
        return 2;
    printf("%s|", tern_cuda_reason());
    if (tern_zeros(tern_dims(1), .device = tern_cuda(0)))
        return 2;
    printf("%s", tern_error_message());
    tern_error_clear();
    tern_cuda_manual_seed(1);
    tern_manual_seed(1);
    train_on_the_cpu();
    return tern_error_pending();
}

static void check_reason(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
    if (!strstr(text, "|zeros: there is no cuda:0: "))
        fail_msg("\"%s\" has no error that names the device", text);
}

static void without_a_driver_the_reason_is_the_driver(void **state)
{
    (void)state;
    if (access("/proc/driver/nvidia/version", F_OK) == 0)
        skip();
    check_reason(reason_with(NULL, NULL), "no NVIDIA driver (libcuda.so.1)");
}

static void a_plugin_that_is_not_there_is_named(void **state)
{
    (void)state;
    check_reason(reason_with("/nowhere/libtern-cuda.so", NULL), "/nowhere/libtern-cuda.so");
}

static void a_library_that_is_no_plugin_is_named(void **state)
{
    (void)state;
    check_reason(reason_with("libz.so.1", NULL), "libz.so.1 is not a backend of tern");
}

static void a_plugin_of_another_version_is_refused(void **state)
{
    (void)state;
    check_reason(reason_with(getenv("TERN_OTHER_PLUGIN"), NULL), "belongs to another version");
}

static void hidden_devices_are_said_to_be_hidden(void **state)
{
    (void)state;
    const char *plugin = getenv("TERN_TEST_PLUGIN");
    if (!plugin)
        skip();
    check_reason(reason_with(plugin, ""), "CUDA_VISIBLE_DEVICES is \"\"");
    check_reason(reason_with(plugin, "70"),
                 "CUDA_VISIBLE_DEVICES is \"70\", in which \"70\" names no device");
    check_reason(reason_with(plugin, "0, 0"), "is \"0, 0\", which names \"0\" twice");
}

static void words_that_name_no_device_are_told(void **state)
{
    (void)state;
    const char *plugin = getenv("TERN_TEST_PLUGIN");
    if (!plugin)
        skip();
    assert_string_equal(reason_with(plugin, "0"),
                        "1 CUDA device; CUDA_VISIBLE_DEVICES is \"0\"|"
                        "zeros: there is no device cuda:60: 1 of its kind are available; "
                        "CUDA_VISIBLE_DEVICES is \"0\"");
    const char *ended = "CUDA_VISIBLE_DEVICES is \"0, 70 ,1\", in which \"70\" names no device and "
                        "ends the list";
    const char *told = reason_with(plugin, "0, 70 ,1");
    const char *first = strstr(told, ended);
    assert_non_null(first);
    assert_non_null(strstr(first + 1, ended)); // the error says it as well
    assert_null(strstr(reason_with(plugin, "0,70"), "ends the list"));
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (argc > 1 && strcmp(argv[1], "tell") == 0)
        return tell();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver_the_reason_is_the_driver),
        cmocka_unit_test(a_plugin_that_is_not_there_is_named),
        cmocka_unit_test(a_library_that_is_no_plugin_is_named),
        cmocka_unit_test(a_plugin_of_another_version_is_refused),
        cmocka_unit_test(hidden_devices_are_said_to_be_hidden),
        cmocka_unit_test(words_that_name_no_device_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
