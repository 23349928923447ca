// SPDX-License-Identifier: Apache-2.0
// The values of options.
#ifndef TERN_SRC_TRAIN_SCRIPT_VALUE_H
#define TERN_SRC_TRAIN_SCRIPT_VALUE_H

#include "train/script/words.h"

// Checks the value of a word; nothing is set. TERN_ERR_ARG with what would be right.
tern_status tern_option_check(const char *program, const tern_option *option, const char *value);
// Hands it to the function of the option, where there is one.
tern_status tern_option_call(const char *program, const tern_option *option, const char *value);
// Sets the variable to a value that was checked.
void tern_option_set(const tern_option *option, const tern_script_word *word);

// What `status`, of a function of the user's, raised, after the name of the program and `what`.
tern_status tern_script_pass_on(tern_status status, const char *program, const char *what,
                                const char *value);

#endif
