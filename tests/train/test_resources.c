// SPDX-License-Identifier: Apache-2.0
// What a run takes of its machine, read from files that are made up and from the real ones.
#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "support/tensor_check.h"
#include "device/backend.h"
#include "train/resources/reading.h"

#define PACKAGE "/sys/class/powercap/intel-rapl:"

static char root[64];

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *at)
{
    (void)facts, (void)type, (void)at;
    return remove(path);
}

static int open_root(void **state)
{
    snprintf(root, sizeof root, "/tmp/tern-test-XXXXXX");
    return mkdtemp(root) ? check_open(state) : -1;
}

static int close_root(void **state)
{
    const int failed = nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return check_close(state) || failed;
}

#define ROOT_TEST(name) cmocka_unit_test_setup_teardown(name, open_root, close_root)

// A file below the root, with the folders on its way.
static void write_file(const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        (void)mkdir(name, 0700);
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_package(int index, const char *name, const char *microjoules)
{
    char path[96];
    snprintf(path, sizeof path, PACKAGE "%d/name", index);
    write_file(path, name);
    snprintf(path, sizeof path, PACKAGE "%d/energy_uj", index);
    write_file(path, microjoules);
    snprintf(path, sizeof path, PACKAGE "%d/max_energy_range_uj", index);
    write_file(path, "262143328850\n");
}

static void assert_reads(tern_reading reading, double value)
{
    assert_true(reading.known);
    assert_true(fabs(reading.value - value) <= 1e-6 * fabs(value));
}

static void memory_is_that_of_proc(void **state)
{
    tern_resources r = {0};
    (void)state;
    write_file("/proc/self/status", "Name:\tprog\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n");
    tern_resources_read_below(&r, root);
    assert_reads(r.resident_bytes, 1048576);
    assert_reads(r.peak_bytes, 2097152);
}

static void what_cannot_be_read_is_not_known_and_never_zero(void **state)
{
    tern_resources r = {0};
    (void)state;
    tern_resources_read_below(&r, root);
    assert_true(!r.resident_bytes.known && !r.peak_bytes.known && !r.joules.known);
    write_file("/proc/self/status", "VmRSS: a lot\n");
    tern_resources_read_below(&r, root);
    assert_true(!r.resident_bytes.known && !r.watts.known && !r.joules.known);
    assert_false(tern_error_pending());
}

static void energy_is_the_sum_of_the_packages(void **state)
{
    tern_resources r = {0};
    (void)state;
    write_package(0, "package-0\n", "1000000\n");
    write_package(1, "package-1\n", "7000000\n");
    write_package(2, "psys\n", "900000000\n"); // has the packages as parts
    tern_resources_read_below(&r, root);
    assert_true(r.joules.known && r.joules.value == 0 && !r.watts.known);
    write_package(0, "package-0\n", "3500000\n");
    write_package(1, "package-1\n", "8000000\n");
    write_package(2, "psys\n", "990000000\n");
    tern_resources_read_below(&r, root);
    assert_reads(r.joules, 3.5);
    assert_reads(r.watts, 3.5 / r.seconds.value);
    write_package(0, "package-0\n", "4000000\n");
    tern_resources_read_below(&r, root);
    assert_reads(r.joules, 4);
}

static void a_counter_that_begins_again_goes_on(void **state)
{
    tern_resources r = {0};
    (void)state;
    write_package(0, "package-0\n", "262143000000\n");
    tern_resources_read_below(&r, root);
    write_package(0, "package-0\n", "1671150\n");
    tern_resources_read_below(&r, root);
    assert_reads(r.joules, 2); // 0.32885 to the end, and 1.67115
}

static void a_counter_that_is_gone_is_not_known(void **state)
{
    tern_resources r = {0};
    char name[160];
    (void)state;
    write_package(0, "package-0\n", "1000000\n");
    write_package(1, "package-1\n", "1000000\n");
    tern_resources_read_below(&r, root);
    snprintf(name, sizeof name, "%s" PACKAGE "1/energy_uj", root);
    assert_int_equal(remove(name), 0);
    tern_resources_read_below(&r, root);
    assert_true(!r.joules.known && !r.watts.known);
    write_package(0, "package-0\n", "3000000\n");
    tern_resources_read_below(&r, root);
    assert_reads(r.watts, 2 / r.seconds.value);
    assert_true(!r.joules.known && r.joules.value == 0); // what it counted is lost
}

// ---- this machine -------------------------------------------------------------------------------

static double cpu_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void the_share_of_the_processors_is_that_since_the_last_reading(void **state)
{
    tern_resources r = {0};
    (void)state;
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    assert_true(!r.seconds.known && !r.cpu_share.known && r.cpu_seconds.known);
    const double before = cpu_seconds();
    while (cpu_seconds() < before + 0.05)
        continue;
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    assert_true(r.seconds.known && r.seconds.value >= 0.05);
    tern_machine machine;
    assert_int_equal(tern_machine_read(&machine), TERN_OK);
    const double share = 0.05 / r.seconds.value / machine.available_cpus;
    assert_true(r.cpu_share.value >= 0.9 * share && r.cpu_share.value <= 1);
    (void)usleep(100000);
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    assert_true(r.cpu_share.known && r.cpu_share.value < 0.5 * share + 0.1);
}

static void memory_of_the_host_is_what_tensors_take(void **state)
{
    tern_resources r = {0};
    (void)state;
    (void)tern_ones(tern_dims(1)); // headers come many at once
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    const double before = r.devices[0].allocated.value;
    tern_tensor *t = tern_ones(tern_dims(1 << 20));
    assert_non_null(t);
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    assert_true(r.device_count >= 1 && r.devices[0].device.type == TERN_CPU);
    assert_in_range(r.devices[0].allocated.value - before, 4 << 20, (4 << 20) + 100000);
    assert_true(r.devices[0].cached.known && !r.devices[0].free.known);
    assert_true(r.resident_bytes.known && r.resident_bytes.value > 4 << 20);
    assert_true(r.peak_bytes.value >= r.resident_bytes.value);
}

static void the_machine_says_what_it_is(void **state)
{
    tern_machine m;
    struct utsname system;
    (void)state;
    assert_int_equal(tern_machine_read(&m), TERN_OK);
    assert_int_equal(uname(&system), 0);
    assert_string_equal(m.host, system.nodename);
    assert_non_null(strstr(m.kernel, system.release));
    assert_string_equal(m.version, tern_version());
    assert_int_equal(m.threads, tern_num_threads());
    assert_true(m.cpus >= m.available_cpus && m.available_cpus >= 1);
    assert_string_equal(m.isa, tern_kernels_of(tern_cpu(0))->name);
    assert_int_equal(strncmp(m.devices, "cpu", 3), 0);
}

static void the_machine_is_read_from_files(void **state)
{
    tern_machine m;
    (void)state;
    write_file("/proc/cpuinfo",
               "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2 GHz\ncpu\t: x\n");
    write_file("/etc/os-release", "NAME=\"No\"\nPRETTY_NAME=\"Some Linux 12\"\n");
    write_file("/proc/meminfo", "MemTotal:       2048 kB\n");
    tern_machine_read_below(&m, root);
    assert_string_equal(m.cpu, "A CPU @ 2 GHz");
    assert_string_equal(m.os, "Some Linux 12");
    assert_int_equal(m.memory_bytes, 2097152);
    write_file("/proc/cpuinfo", "model name\t: evil\033[31m\xff\n");
    write_file("/etc/os-release", "");
    write_file("/proc/meminfo", "");
    tern_machine_read_below(&m, root);
    assert_string_equal(m.cpu, "evil?[31m\\xff");
    assert_string_equal(m.os, "");
    assert_int_equal(m.memory_bytes, 0);
}

static void an_error_that_is_pending_stays(void **state)
{
    tern_resources r = {0};
    tern_machine m;
    (void)state;
    tern_error_raise(TERN_ERR_ARG, "before");
    assert_int_equal(tern_resources_read(&r), TERN_OK);
    assert_int_equal(tern_machine_read(&m), TERN_OK);
    assert_error(TERN_ERR_ARG, "before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOT_TEST(memory_is_that_of_proc),
        ROOT_TEST(what_cannot_be_read_is_not_known_and_never_zero),
        ROOT_TEST(energy_is_the_sum_of_the_packages),
        ROOT_TEST(a_counter_that_begins_again_goes_on),
        ROOT_TEST(a_counter_that_is_gone_is_not_known),
        ROOT_TEST(the_share_of_the_processors_is_that_since_the_last_reading),
        ROOT_TEST(memory_of_the_host_is_what_tensors_take),
        ROOT_TEST(the_machine_says_what_it_is),
        ROOT_TEST(the_machine_is_read_from_files),
        ROOT_TEST(an_error_that_is_pending_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
