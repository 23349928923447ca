// SPDX-License-Identifier: Apache-2.0
// Which rate of a curve of losses to begin with.
#ifndef TERN_SRC_TRAIN_FIT_LR_SUGGEST_H
#define TERN_SRC_TRAIN_FIT_LR_SUGGEST_H

#include <tern/fit.h>

// Of `count` finite losses, (count); `steps` is how many there were to be. NAN: too few for a
// suggestion. May take time of count^2.
double tern_lr_suggest(tern_lr_rule rule, const double *lr, const double *loss, int64_t count,
                       int64_t steps);

#endif
