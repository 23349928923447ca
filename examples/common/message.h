// SPDX-License-Identifier: Apache-2.0
// What went wrong, for people who use a program and did not write it.
#ifndef COMMON_MESSAGE_H
#define COMMON_MESSAGE_H

#include <stdbool.h>

// Prints the pending error, if there is one, and clears it. Of a file, or with `of_user` of
// anything, that is the cause alone: no function of the library and no line of the program.
void message_print(const char *program, bool of_user);

#endif
