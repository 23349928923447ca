// SPDX-License-Identifier: Apache-2.0
// The options of each family as they are unless said.
#include "errors.h"

#define OPTIONS(family, FAMILY)                                                                    \
    CANNOT_FAIL(family##_defaults, "fills a struct", family##_defaults().reserved_ == 0)
#include "train/options.def"
