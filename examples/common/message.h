// SPDX-License-Identifier: Apache-2.0
// What went wrong, for people who use a program and did not write it.
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <stdbool.h>

// Prints the pending error, if there is one, and clears it. One of a file, or with `of_user` any, is
// the cause alone: neither the function of the library nor the line of the program says more.
void message_print(const char *program, bool of_user);

#endif
