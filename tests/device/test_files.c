// SPDX-License-Identifier: Apache-2.0
// Files and devices: what was saved on one is loaded on another, also where that one is missing.
#include <unistd.h>

#include "device_check.h"

// Of a device that the file calls cuda:1; made by tests/golden/make_files_torch.py.
#define SAVED_ON_CUDA_1 TERN_IO_DATA "/torch_cuda.pt"

static char folder[] = "/tmp/tern-test-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][80];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void assert_same_values(const tern_state *a, const tern_state *b)
{
    assert_int_equal(tern_state_count(a), tern_state_count(b));
    for (int64_t i = 0; i < tern_state_count(a); i++) {
        const char *name = tern_state_name_at(a, i);
        tern_tensor *x = tern_state_tensor(a, name), *y = tern_state_tensor(b, name);
        assert_int_equal(tern_numel(x), tern_numel(y));
        for (int64_t k = 0; k < tern_numel(x); k++)
            assert_true(value_at(x, k) == value_at(y, k));
    }
}

static void assert_all_on(const tern_state *s, tern_device device)
{
    assert_true(tern_state_count(s) > 0);
    for (int64_t i = 0; i < tern_state_count(s); i++)
        assert_true(is_on(tern_state_tensor(s, tern_state_name_at(s, i)), device));
}

static void check_round_trip(const char *file)
{
    tern_module *net = tern_module_to(small_net(), here),
                *other = tern_module_to(small_net(), there);
    tern_state *saved = tern_module_state_dict(net);
    assert_int_equal(tern_state_write(saved, path_of(file)), TERN_OK);
    tern_state *read = tern_state_read(path_of(file));
    assert_all_on(read, tern_cpu(0));
    assert_same_values(saved, read);
    tern_no_grad
        tern_fill_(tern_module_parameter_at(other, 0, NULL, 0), 5);
    assert_int_equal(tern_module_load_state_dict(other, read), TERN_OK);
    tern_state *loaded = tern_module_state_dict(other);
    assert_all_on(loaded, there);
    assert_same_values(saved, loaded);
    tern_state_free(loaded);
    tern_state_free(read);
    tern_state_free(saved);
    tern_module_free(other);
    tern_module_free(net);
}

static void weights_of_one_device_are_loaded_on_another(void **state)
{
    (void)state;
    check_round_trip("net.safetensors");
    check_round_trip("net.pt");
    check_round_trip("net.npz");
}

static void every_tensor_goes_where_map_location_says(void **state)
{
    (void)state;
    tern_module *net = small_net();
    tern_state *saved = tern_module_state_dict(net);
    assert_int_equal(tern_state_write(saved, path_of("net.safetensors")), TERN_OK);
    tern_state *read =
        tern_state_read(path_of("net.safetensors"), .map_location = tern_device_string(here));
    assert_all_on(read, here);
    assert_same_values(saved, read);
    tern_state_free(read);
    tern_state_free(saved);
    tern_module_free(net);
}

static void a_file_of_a_cuda_device_is_read_where_that_is_said(void **state)
{
    (void)state;
    tern_state *on_cpu = tern_state_read(SAVED_ON_CUDA_1, .map_location = "cpu");
    assert_all_on(on_cpu, tern_cpu(0));
    char pair[64];
    snprintf(pair, sizeof pair, "cuda:0=cpu,cuda:1=%s", tern_device_string(there));
    tern_state *mapped = tern_state_read(SAVED_ON_CUDA_1, .map_location = pair);
    assert_all_on(mapped, there);
    assert_same_values(on_cpu, mapped);
    tern_state_free(mapped);
    tern_state_free(on_cpu);
}

static void without_it_the_file_goes_to_its_device_or_is_refused(void **state)
{
    (void)state;
    if (tern_cuda_is_available() && tern_cuda_device_count() > 1) {
        tern_state *read = tern_state_read(SAVED_ON_CUDA_1);
        assert_all_on(read, tern_cuda(1));
        tern_state_free(read);
        return;
    }
    assert_null_with(tern_state_read(SAVED_ON_CUDA_1), TERN_ERR_DEVICE,
                     tern_cuda_is_available() ? "this machine has fewer"
                                              : "on CUDA device cuda:1, but no CUDA device is "
                                                "available: read it with .map_location = \"cpu\"");
    // A table that has other devices alone does not help.
    assert_null_with(tern_state_read(SAVED_ON_CUDA_1, .map_location = "cuda:7=cpu"),
                     TERN_ERR_DEVICE, "read it with .map_location = \"cpu\"");
}

// A file of before PyTorch 1.6, which has no checksum, with another word for its device.
static void write_with_location(const char *word)
{
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(TERN_IO_DATA "/torch_legacy.pt", "rb");
    assert_non_null(file);
    const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    file = fopen(path_of("other.pt"), "wb");
    assert_non_null(file);
    int replaced = 0;
    for (size_t i = 0; i < nbytes; i++) {
        const bool is_device = i + 7 <= nbytes && memcmp(bytes + i, "\3\0\0\0cpu", 7) == 0;
        if (is_device)
            fprintf(file, "%c%c%c%c%s", (int)strlen(word), 0, 0, 0, word);
        else
            putc(bytes[i], file);
        replaced += is_device;
        i += is_device ? 6 : 0;
    }
    assert_true(fclose(file) == 0 && replaced > 0);
}

static void a_device_that_tern_does_not_have_is_named(void **state)
{
    (void)state;
    static const char *const words[] = {"mps", "xpu", "cud", "CPU"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write_with_location(words[i]);
        assert_null_with(tern_state_read(path_of("other.pt")), TERN_ERR_DEVICE,
                         "but tern has no such devices: read it with .map_location = \"cpu\"");
        char pair[16];
        snprintf(pair, sizeof pair, "%s=cpu", words[i]);
        tern_state *read = tern_state_read(path_of("other.pt"), .map_location = pair);
        assert_all_on(read, tern_cpu(0));
        tern_state_free(read);
    }
}

static void a_cuda_device_without_its_number_is_none(void **state)
{
    (void)state;
    static const char *const words[] = {"cuda:",   "cuda:x",    "cuda:0x",
                                        "cuda:-1", "cuda:0000", "cuda0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        write_with_location(words[i]);
        assert_null_with(tern_state_read(path_of("other.pt")), TERN_ERR_DEVICE,
                         "read it with .map_location = \"cpu\"");
        tern_state *read = tern_state_read(path_of("other.pt"), .map_location = "cpu");
        assert_all_on(read, tern_cpu(0));
        tern_state_free(read);
    }
}

// A state of DataParallel: every key begins with module.
static void a_file_whose_keys_begin_with_module_is_loaded_when_that_is_stripped(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), here);
    tern_state *own = tern_module_state_dict(net), *prefixed = tern_state_new();
    for (int64_t i = 0; i < tern_state_count(own); i++) {
        char name[64];
        snprintf(name, sizeof name, "module.%s", tern_state_name_at(own, i));
        tern_tensor *t = tern_full_like(tern_state_tensor(own, tern_state_name_at(own, i)), 3);
        assert_int_equal(tern_state_set_tensor(prefixed, name, t), TERN_OK);
    }
    assert_int_equal(tern_state_write(prefixed, path_of("parallel.pt")), TERN_OK);
    tern_state *read = tern_state_read(path_of("parallel.pt"));
    assert_status(tern_module_load_state_dict(net, read), TERN_ERR_ARG, ".strip = \"module.\"");
    assert_int_equal(tern_module_load_state_dict(net, read, .strip = "module."), TERN_OK);
    for (int64_t i = 0; i < tern_state_count(own); i++)
        assert_true(value_at(tern_state_tensor(own, tern_state_name_at(own, i)), 0) == 3);
    tern_state_free(read);
    tern_state_free(prefixed);
    tern_state_free(own);
    tern_module_free(net);
}

static void missing_and_unexpected_keys_of_a_file_are_named_and_may_be_passed_over(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), here);
    tern_state *own = tern_module_state_dict(net), *other = tern_state_copy(own);
    tern_tensor *bias = tern_full(tern_dims(8), 2);
    assert_int_equal(tern_state_remove(other, "2.bias"), TERN_OK);
    assert_int_equal(tern_state_set_tensor(other, "0.bias", bias), TERN_OK);
    assert_int_equal(tern_state_set_tensor(other, "head.bias", bias), TERN_OK);
    assert_int_equal(tern_state_write(other, path_of("other.pt")), TERN_OK);
    tern_state *read = tern_state_read(path_of("other.pt"));
    tern_load_report report;
    assert_status(tern_module_load_state_dict(net, read, .report = &report), TERN_ERR_ARG,
                  "\"2.bias\"");
    assert_true(value_at(tern_state_tensor(own, "0.bias"), 0) != 2);
    assert_int_equal(report.missing_count, 1);
    assert_string_equal(report.missing[0], "2.bias");
    assert_int_equal(report.unexpected_count, 1);
    assert_string_equal(report.unexpected[0], "head.bias");
    tern_load_report_free(&report);
    assert_int_equal(tern_module_load_state_dict(net, read, .strict = false), TERN_OK);
    assert_true(value_at(tern_state_tensor(own, "0.bias"), 0) == 2);
    tern_state_free(read);
    tern_state_free(other);
    tern_state_free(own);
    tern_module_free(net);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    static const char *const names[] = {"net.safetensors", "net.pt", "net.npz", "parallel.pt",
                                        "other.pt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    return rmdir(folder) || check_shutdown(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(weights_of_one_device_are_loaded_on_another),
        CHECK_TEST(every_tensor_goes_where_map_location_says),
        CHECK_TEST(a_file_of_a_cuda_device_is_read_where_that_is_said),
        CHECK_TEST(without_it_the_file_goes_to_its_device_or_is_refused),
        CHECK_TEST(a_device_that_tern_does_not_have_is_named),
        CHECK_TEST(a_cuda_device_without_its_number_is_none),
        CHECK_TEST(a_file_whose_keys_begin_with_module_is_loaded_when_that_is_stripped),
        CHECK_TEST(missing_and_unexpected_keys_of_a_file_are_named_and_may_be_passed_over),
    };
    const int nothing = choose_devices(argc, argv);
    return nothing ? nothing : cmocka_run_group_tests(tests, begin, end);
}
