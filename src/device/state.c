// SPDX-License-Identifier: Apache-2.0
#include "device/state.h"

pthread_mutex_t tern_device_lock = PTHREAD_MUTEX_INITIALIZER;
tern_device_state tern_device_states[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];
