// SPDX-License-Identifier: Apache-2.0
// What options are unless said: the defaults of the constructors' macros, as functions.
#include <tern/averaged_model.h>
#include <tern/checkpoint.h>
#include <tern/datasets.h>
#include <tern/fit.h>
#include <tern/loader.h>
#include <tern/logger.h>
#include <tern/gradcheck.h>
#include <tern/image_data.h>
#include <tern/init.h>
#include <tern/io.h>
#include <tern/lora.h>
#include <tern/metrics.h>
#include <tern/models.h>
#include <tern/nn.h>
#include <tern/ops.h>
#include <tern/optimizers.h>
#include <tern/parallel.h>
#include <tern/parametrize.h>
#include <tern/progress.h>
#include <tern/random.h>
#include <tern/summary.h>
#include <tern/transform.h>

TERN_OPTIONS_BEGIN_
#define OPTIONS(family, FAMILY)                                                                    \
    family##_options family##_defaults(void)                                                       \
    {                                                                                              \
        return (family##_options){FAMILY##_DEFAULTS_};                                             \
    }
#include "train/options.def"
TERN_OPTIONS_END_
