// SPDX-License-Identifier: Apache-2.0
// resources.h
#include "errors.h"

REFUSES(tern_resources_read, "a struct that is NULL", TERN_ERR_NULL,
        "resources_read: resources is NULL", tern_resources_read(NULL))
REFUSES(tern_machine_read, "a struct that is NULL", TERN_ERR_NULL, "machine_read: machine is NULL",
        tern_machine_read(NULL))
