// SPDX-License-Identifier: Apache-2.0
// CPU quotas, read from directories that look like those of Linux.
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "support/check.h"

static char root[256];

static int make_root(void **state)
{
    (void)state;
    const char *directory = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/cgroup-XXXXXX", directory ? directory : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_directory(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int cpus_of_groups(const char *groups)
{
    char path[512];
    make_file("groups", groups);
    snprintf(path, sizeof path, "%s/groups", root);
    return tern_cgroup_cpus(path, root);
}

static void without_a_quota_there_is_no_limit(void **state)
{
    (void)state;
    assert_int_equal(tern_cgroup_cpus("/no/such/file", root), 0);
    assert_int_equal(cpus_of_groups(""), 0);
    assert_int_equal(cpus_of_groups("no colon\n0:one\n0::/a\n"), 0);
    make_file("cpu.max", "max 100000\n");
    assert_int_equal(cpus_of_groups("0::/\n"), 0);
    make_file("cpu.max", "what\n");
    assert_int_equal(cpus_of_groups("0::/\n"), 0);
    make_file("cpu.max", "100000 0\n");
    assert_int_equal(cpus_of_groups("0::/\n"), 0);
    make_file("cpu.max", "");
    assert_int_equal(cpus_of_groups("0::/\n"), 0);
}

static void a_part_of_a_cpu_counts_as_one(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int cpus;
    } cases[] = {{"200000 100000\n", 2}, {"200001 100000\n", 3}, {"50000 100000\n", 1},
                 {"1000 100000\n", 1},   {"30000 10000\n", 3},   {"9000000000000 1\n", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_file("cpu.max", cases[i].text);
        assert_int_equal(cpus_of_groups("0::/\n"), cases[i].cpus);
    }
}

static void the_smallest_quota_on_the_way_up_counts(void **state)
{
    (void)state;
    make_directory("a");
    make_directory("a/b");
    make_file("a/b/cpu.max", "600000 100000\n");
    assert_int_equal(cpus_of_groups("0::/a/b\n"), 6);
    make_file("a/cpu.max", "300000 100000\n");
    assert_int_equal(cpus_of_groups("0::/a/b\n"), 3);
    make_file("a/b/cpu.max", "max 100000\n");
    assert_int_equal(cpus_of_groups("0::/a/b\n"), 3);
    make_file("cpu.max", "500000 100000\n"); // also where the path of the group is not to be seen
    assert_int_equal(cpus_of_groups("0::/a/b\n"), 3);
    assert_int_equal(cpus_of_groups("0::/elsewhere/b\n"), 5);
}

static void version_1_has_a_file_for_the_quota_and_one_for_the_period(void **state)
{
    (void)state;
    const char *groups = "9:memory:/a\n4:cpuset:/\n3:cpuacct,cpu:/a\n0::/a\n";
    make_directory("cpu");
    make_directory("cpu/a");
    make_file("cpu/cpu.cfs_quota_us", "-1\n");
    make_file("cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpus_of_groups(groups), 0);
    make_file("cpu/a/cpu.cfs_quota_us", "150000\n");
    make_file("cpu/a/cpu.cfs_period_us", "50000\n");
    assert_int_equal(cpus_of_groups(groups), 3);
    assert_int_equal(cpus_of_groups("4:cpuset:/a\n2:cpuacct:/a\n"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_a_quota_there_is_no_limit),
        TEST(a_part_of_a_cpu_counts_as_one),
        TEST(the_smallest_quota_on_the_way_up_counts),
        TEST(version_1_has_a_file_for_the_quota_and_one_for_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
