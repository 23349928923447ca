// SPDX-License-Identifier: Apache-2.0
// Running a part of a test in a process of its own.
#ifndef TERN_TESTS_SUPPORT_CHILD_H
#define TERN_TESTS_SUPPORT_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

// The status of a child that runs `body`; killed after 10 seconds.
static inline int status_of_child(int (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(body());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

#endif
