// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and which one a word or a call means.
#include <sys/wait.h>
#include <unistd.h>
#include "device_check.h"
#include "sim.h"

static void a_device_reads_back_as_it_prints(void **state)
{
    (void)state;
    tern_device parsed = {0};
    for (int i = 0; i < tern_device_count(kind); i++) {
        const tern_device device = {kind, i};
        assert_int_equal(tern_device_parse(tern_device_string(device), &parsed), TERN_OK);
        assert_true(tern_device_equal(parsed, device));
    }
    char text[24];
    snprintf(text, sizeof text, "cuda:%d", tern_cuda_device_count());
    assert_int_equal(tern_device_parse(text, &parsed), TERN_ERR_DEVICE);
    assert_error(TERN_ERR_DEVICE, text);
}

static void the_best_device_is_cuda_where_there_is_one(void **state)
{
    (void)state;
    const bool cuda = tern_cuda_is_available();
    assert_int_equal(cuda, tern_cuda_device_count() > 0);
    assert_true(tern_device_equal(tern_device_best(), cuda ? tern_cuda(0) : tern_cpu(0)));
    assert_true(tern_device_equal(tern_try_gpu(0), tern_device_best()));
    assert_true(tern_device_equal(tern_try_gpu(tern_cuda_device_count()), tern_cpu(0)));
    assert_true(tern_device_equal(tern_try_gpu(-1), tern_cpu(0)));
    assert_true(strlen(tern_cuda_reason()) > 0);
}

static void all_gpus_are_listed_or_the_cpu(void **state)
{
    (void)state;
    const int cuda = tern_cuda_device_count(), count = tern_try_all_gpus(NULL, 0);
    tern_device list[TERN_MAX_RANK * 8] = {{0}};
    assert_int_equal(count, cuda ? cuda : 1);
    assert_int_equal(tern_try_all_gpus(list, 1), count);
    assert_int_equal(list[1].type, TERN_DEVICE_UNSPECIFIED);
    tern_try_all_gpus(list, count);
    for (int i = 0; i < count; i++)
        assert_true(tern_device_equal(list[i], cuda ? tern_cuda(i) : tern_cpu(0)));
}

static void a_cuda_device_tells_what_it_is(void **state)
{
    (void)state;
    tern_cuda_properties properties = {0};
    assert_int_equal(tern_cuda_get_properties(0, &properties), TERN_OK);
    assert_true(strlen(properties.name) > 0 && properties.major > 0 && properties.minor >= 0);
    assert_true(properties.multiprocessors > 0 && properties.total_memory > 0);
    unsigned domain, bus, slot, function;
    assert_int_equal(
        sscanf(properties.pci_bus_id, "%4x:%2x:%2x.%1x", &domain, &bus, &slot, &function), 4);
    assert_int_equal(strlen(properties.pci_bus_id), strlen("0000:1b:00.0"));
    assert_int_equal(strlen(properties.uuid), strlen("GPU-00000000-0000-0000-0000-000000000001"));
    if (sim_begin()) { // whose first device says so
        assert_string_equal(properties.pci_bus_id, "0000:01:00.0");
        assert_string_equal(properties.uuid, "GPU-00000000-0000-0000-0000-000000000001");
    }
    tern_cuda_memory memory = {0};
    assert_int_equal(tern_cuda_get_memory(0, &memory), TERN_OK);
    assert_int_equal(memory.total, properties.total_memory);
    assert_true(memory.free > 0 && memory.free <= memory.total);
    const int past = tern_cuda_device_count();
    assert_status(tern_cuda_get_properties(past, &properties), TERN_ERR_DEVICE,
                  "cuda_get_properties: there is no device cuda:");
}

static void devices_are_sorted_by_free_memory(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    const int count = tern_cuda_device_count();
    tern_tensor *large = tern_empty(tern_dims(64 << 20), .dtype = TERN_UINT8, .device = here);
    assert_non_null(large);
    tern_device list[64];
    assert_int_equal(tern_cuda_devices_by_free_memory(list, 64), TERN_OK);
    int64_t before = INT64_MAX;
    for (int i = 0; i < count; i++) {
        tern_cuda_memory memory;
        assert_int_equal(tern_cuda_get_memory(list[i].index, &memory), TERN_OK);
        assert_true(memory.free <= before);
        before = memory.free;
    }
}

static void cuda_means_the_current_device(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_device device = {0};
    assert_int_equal(tern_cuda_current_device(), 0);
    assert_int_equal(tern_cuda_set_device(1), TERN_OK);
    assert_int_equal(tern_cuda_current_device(), 1);
    assert_int_equal(tern_device_parse("cuda", &device), TERN_OK);
    assert_true(tern_device_equal(device, tern_cuda(1)));
    assert_true(is_on(tern_zeros(tern_dims(2), .device = tern_cuda(-1)), tern_cuda(1)));
    assert_true(is_on(tern_zeros(tern_dims(2)), tern_default_device()));
    assert_status(tern_cuda_set_device(99), TERN_ERR_DEVICE, "cuda:99");
    assert_int_equal(tern_cuda_current_device(), 1);
    assert_int_equal(tern_cuda_set_device(0), TERN_OK);
}

static bool word_cuda_means(tern_device device)
{
    tern_device parsed = {0};
    return tern_device_parse("cuda", &parsed) == TERN_OK && tern_device_equal(parsed, device) &&
           tern_cuda_current_device() == device.index &&
           is_on(tern_zeros(tern_dims(2), .device = tern_cuda(-1)), device);
}

static void sets_another(void)
{
    tern_with_device(tern_cuda(0))
    {
        assert_int_equal(tern_cuda_set_device(1), TERN_OK);
        return;
    }
}

static void in_a_block_cuda_means_the_device_of_the_block(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    assert_int_equal(tern_cuda_set_device(0), TERN_OK);
    tern_with_device(tern_cuda(1))
    {
        assert_true(word_cuda_means(tern_cuda(1)));
        tern_with_device(tern_cpu(0)) assert_true(word_cuda_means(tern_cuda(1)));
        tern_with_device(tern_cuda(0)) assert_true(word_cuda_means(tern_cuda(0)));
        sets_another();
        assert_true(word_cuda_means(tern_cuda(1)));
        break;
    }
    assert_true(word_cuda_means(tern_cuda(0)));
    tern_with_device(tern_cuda(63)) fail();
    assert_error(TERN_ERR_DEVICE, "cuda:63");
    assert_true(word_cuda_means(tern_cuda(0)));
}

static void new_tensors_go_to_the_default_device(void **state)
{
    (void)state;
    const tern_device before = tern_default_device();
    assert_int_equal(tern_set_default_device(here), TERN_OK);
    assert_true(is_on(tern_ones(tern_dims(3)), here));
    assert_true(is_on(tern_arange(0, 3, 1), here));
    assert_true(is_on(tern_from_data(tern_dims(2), ((float[]){1, 2})), here));
    assert_true(is_on(tern_ones(tern_dims(3), .device = tern_cpu(0)), tern_cpu(0)));
    assert_int_equal(tern_set_default_device(before), TERN_OK);
}

static void a_scope_sets_the_default_device_for_a_block(void **state)
{
    (void)state;
    const tern_device before = tern_default_device();
    int runs = 0;
    tern_with_device(here)
    {
        runs++;
        assert_true(is_on(tern_zeros(tern_dims(1)), here));
        tern_with_device(there)
        {
            runs++;
            assert_true(is_on(tern_zeros(tern_dims(1)), there));
            break;
        }
        assert_true(tern_device_equal(tern_default_device(), here));
    }
    assert_int_equal(runs, 2);
    assert_true(tern_device_equal(tern_default_device(), before));
    tern_with_device(tern_cuda(63)) runs++;
    assert_int_equal(runs, 2);
    assert_error(TERN_ERR_DEVICE, "cuda:63");
    assert_true(tern_device_equal(tern_default_device(), before));
}

// ---- CUDA_VISIBLE_DEVICES, read once in a process -----------------------------------------------

// The number of devices, and the first one's memory in MiB, as a new process sees them.
static void ask_child(char **argv, const char *visible, int *count, int *mebibytes)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
        setenv("TERN_SIM_MEMORY", "1G,2G,3G,4G", 1);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", argv[0], "tell", (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    assert_int_equal(fscanf(answer, "%d %d", count, mebibytes), 2);
    fclose(answer);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
}

static int tell(void)
{
    tern_cuda_properties properties = {.total_memory = 0};
    if (tern_cuda_is_available() && tern_cuda_get_properties(0, &properties))
        return 1;
    printf("%d %d\n", tern_cuda_device_count(), (int)(properties.total_memory >> 20));
    return 0;
}

static char **arguments;

static void visible_devices_are_renumbered(void **state)
{
    (void)state;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char first[64], second[64], swapped[130];
    const int named = sscanf(visible ? visible : "0,1", "%63[^,],%63[^,]", first, second);
    int count, mebibytes;
    ask_child(arguments, "", &count, &mebibytes);
    assert_int_equal(count, 0);
    ask_child(arguments, first, &count, &mebibytes);
    assert_int_equal(count, 1);
    NEEDS_TWO_DEVICES();
    assert_int_equal(named, 2);
    snprintf(swapped, sizeof swapped, "%s,%s", second, first);
    ask_child(arguments, swapped, &count, &mebibytes);
    assert_int_equal(count, 2);
    if (sim_begin() && !visible)
        assert_int_equal(mebibytes, 2048); // cuda:0 is what was number 1
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (argc > 1 && strcmp(argv[1], "tell") == 0)
        return tell();
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(a_device_reads_back_as_it_prints),
        CHECK_TEST(the_best_device_is_cuda_where_there_is_one),
        CHECK_TEST(all_gpus_are_listed_or_the_cpu),
        CHECK_TEST(new_tensors_go_to_the_default_device),
        CHECK_TEST(a_scope_sets_the_default_device_for_a_block),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(a_cuda_device_tells_what_it_is),
        CHECK_TEST(devices_are_sorted_by_free_memory),
        CHECK_TEST(cuda_means_the_current_device),
        CHECK_TEST(in_a_block_cuda_means_the_device_of_the_block),
        CHECK_TEST(visible_devices_are_renumbered),
    };
    if (nothing)
        return nothing;
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
