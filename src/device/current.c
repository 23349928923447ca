// SPDX-License-Identifier: Apache-2.0
#include "device/current.h"

#include <stdio.h>
#include <tern/cuda.h>

static _Thread_local tern_device default_device = {TERN_CPU, 0};
static _Thread_local int current_cuda;

void tern_default_device_set(tern_device device)
{
    default_device = device;
}

void tern_cuda_current_device_set(int index)
{
    current_cuda = index;
}

tern_device tern_cpu(int index)
{
    return (tern_device){TERN_CPU, index};
}

tern_device tern_cuda(int index)
{
    return (tern_device){TERN_CUDA, index};
}

tern_device tern_device_or_default(tern_device device)
{
    if (device.type == TERN_DEVICE_UNSPECIFIED)
        return default_device;
    return device.type == TERN_CUDA && device.index == -1 ? tern_cuda(current_cuda) : device;
}

bool tern_device_equal(tern_device a, tern_device b)
{
    a = tern_device_or_default(a);
    b = tern_device_or_default(b);
    return a.type == b.type && a.index == b.index;
}

#define TEXTS     8
#define TEXT_SIZE 24
static _Thread_local char texts[TEXTS][TEXT_SIZE];
static _Thread_local unsigned next_text;

const char *tern_device_string(tern_device device)
{
    device = tern_device_or_default(device);
    if (device.type == TERN_CPU && device.index == 0 && tern_device_count(TERN_CPU) == 1)
        return "cpu";
    char *text = texts[next_text++ % TEXTS];
    const char *type = device.type == TERN_CPU    ? "cpu"
                       : device.type == TERN_CUDA ? "cuda"
                                                  : "unknown";
    snprintf(text, TEXT_SIZE, "%s:%d", type, device.index);
    return text;
}

int tern_cuda_current_device(void)
{
    return current_cuda;
}

tern_device tern_default_device(void)
{
    return default_device;
}
