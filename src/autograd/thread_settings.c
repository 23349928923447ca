// SPDX-License-Identifier: Apache-2.0
#include "autograd/thread_settings.h"

#include <tern/autograd.h>
#include <tern/cuda.h>
#include "base/fp_mode.h"
#include "device/current.h"

tern_thread_settings tern_thread_settings_now(void)
{
    return (tern_thread_settings){.grad_enabled = tern_grad_enabled(),
                                  .default_dtype = tern_default_dtype(),
                                  .default_device = tern_default_device(),
                                  .cuda = tern_cuda_current_device(),
                                  .fp_mode = tern_fp_mode()};
}

void tern_thread_settings_set(const tern_thread_settings *settings)
{
    (void)tern_set_grad_enabled(settings->grad_enabled);
    (void)!tern_set_default_dtype(settings->default_dtype);
    tern_default_device_set(settings->default_device);
    tern_cuda_current_device_set(settings->cuda);
    tern_fp_mode_set(settings->fp_mode);
}
