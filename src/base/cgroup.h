// SPDX-License-Identifier: Apache-2.0
// The CPU time that a control group of Linux leaves to the process, as containers set it.
#ifndef TERN_SRC_BASE_CGROUP_H
#define TERN_SRC_BASE_CGROUP_H

// The CPUs that the smallest quota of the process's groups is worth, rounded up; 0 without a quota.
// `groups` is a file like /proc/self/cgroup, `root` a directory like /sys/fs/cgroup.
int tern_cgroup_cpus(const char *groups, const char *root);

#endif
