// SPDX-License-Identifier: Apache-2.0
// Whose turn it is to ask a serial dataset. A loader has one worker for it, but loops inside each
// other, and loaders over parts of one dataset, have several.
#ifndef TERN_SRC_DATA_TURN_H
#define TERN_SRC_DATA_TURN_H

#include "data/dataset.h"

// Waits until no other thread asks the dataset, where one at a time may. Cancellation is off. True:
// tern_turn_end has to follow.
bool tern_turn_begin(const tern_dataset *dataset);
void tern_turn_end(const tern_dataset *dataset);

#endif
