// SPDX-License-Identifier: Apache-2.0
// Children that are new to the library.
#ifndef TERN_TESTS_TRAIN_PROCESSES_H
#define TERN_TESTS_TRAIN_PROCESSES_H

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

// The test itself ends its use of the library for that.
static inline pid_t start(int (*body)(int), int number)
{
    tern_shutdown();
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(body(number));
    }
    assert_true(child > 0);
    return child;
}

static inline int end_of(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

// In a child: what does not hold ends it, and is said.
#define EXPECT(holds)                                                                              \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: %s; pending: %s\n", __FILE__, __LINE__, #holds,                \
                    tern_error_message());                                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

#endif
