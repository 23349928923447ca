// SPDX-License-Identifier: Apache-2.0
// What a summary asks an optimizer.
#ifndef TERN_SRC_TRAIN_SUMMARY_OPTIMIZER_H
#define TERN_SRC_TRAIN_SUMMARY_OPTIMIZER_H

#include <tern/optim.h>

// Its kind, and the bytes of its whole state. TERN_ERR_STATE for one that was freed.
tern_status tern_summary_optimizer(const tern_optim *optim, const char **name, int64_t *nbytes);

#endif
