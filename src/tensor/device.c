// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and which one a call means.
#include <stdio.h>
#include <string.h>
#include "tensor/backend.h"
#include "tensor/op.h"
#include "tensor/plugin.h"

static _Thread_local tern_device default_device = {TERN_CPU, 0};
static _Thread_local int current_cuda;

tern_device tern_cpu(int index)
{
    return (tern_device){TERN_CPU, index};
}

tern_device tern_cuda(int index)
{
    return (tern_device){TERN_CUDA, index};
}

const tern_backend *tern_backend_of(tern_device_type type)
{
    switch (type) {
    case TERN_CPU:
        return tern_cpu_backend();
    case TERN_CUDA:
        return tern_cuda_backend();
    case TERN_DEVICE_UNSPECIFIED:
        break;
    }
    return NULL;
}

const tern_kernels *tern_kernels_of(tern_device device)
{
    return tern_backend_of(device.type)->kernels;
}

int tern_device_count(tern_device_type type)
{
    const tern_backend *backend = tern_backend_of(type);
    return backend ? backend->device->count() : 0;
}

tern_device tern_device_best(void)
{
    return tern_try_gpu(0);
}

static tern_device or_default(tern_device device)
{
    if (device.type == TERN_DEVICE_UNSPECIFIED)
        return default_device;
    return device.type == TERN_CUDA && device.index == -1 ? tern_cuda(current_cuda) : device;
}

bool tern_device_equal(tern_device a, tern_device b)
{
    a = or_default(a);
    b = or_default(b);
    return a.type == b.type && a.index == b.index;
}

#define TEXTS     8
#define TEXT_SIZE 24
static _Thread_local char texts[TEXTS][TEXT_SIZE];
static _Thread_local unsigned next_text;

const char *tern_device_string(tern_device device)
{
    device = or_default(device);
    if (device.type == TERN_CPU && device.index == 0 && tern_device_count(TERN_CPU) == 1)
        return "cpu";
    char *text = texts[next_text++ % TEXTS];
    const char *type = device.type == TERN_CPU    ? "cpu"
                       : device.type == TERN_CUDA ? "cuda"
                                                  : "unknown";
    snprintf(text, TEXT_SIZE, "%s:%d", type, device.index);
    return text;
}

tern_status tern_device_find(const char *op, tern_device *device)
{
    tern_device wanted = or_default(*device);
    TERN_CHECK(wanted.type == TERN_CPU || wanted.type == TERN_CUDA, TERN_ERR_DEVICE,
               "%s: %d is no type of device", op, (int)wanted.type);
    int count = tern_device_count(wanted.type);
    TERN_CHECK(wanted.type != TERN_CUDA || count > 0, TERN_ERR_DEVICE, "%s: there is no %s: %s", op,
               tern_device_string(wanted), tern_cuda_reason());
    TERN_CHECK(wanted.index >= 0 && wanted.index < count, TERN_ERR_DEVICE,
               "%s: there is no device %s: %d of its kind are available%s", op,
               tern_device_string(wanted), count,
               wanted.type == TERN_CUDA ? tern_cuda_visible() : "");
    *device = wanted;
    return TERN_OK;
}

tern_status tern_device_resolve(const char *op, tern_device *device)
{
    TERN_TRY(tern_device_find(op, device));
    return tern_device_open(*device);
}

// Reads the digits after the colon; -1 when they are not a number of at most 3 digits.
static int parse_index(const char *digits)
{
    int index = 0;
    size_t length = strlen(digits);
    if (length == 0 || length > 3)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return -1;
        index = index * 10 + (digits[i] - '0');
    }
    return index;
}

tern_status tern_device_parse(const char *text, tern_device *out)
{
    if (!text || !out)
        return tern_null_error("device_parse", text ? "out" : "text");
    size_t word = strcspn(text, ":");
    tern_device device = {TERN_DEVICE_UNSPECIFIED, 0};
    if (word == 3 && strncmp(text, "cpu", word) == 0)
        device.type = TERN_CPU;
    else if (word == 4 && strncmp(text, "cuda", word) == 0)
        device.type = TERN_CUDA;
    if (text[word] == ':')
        device.index = parse_index(text + word + 1);
    else if (device.type == TERN_CUDA)
        device.index = current_cuda;
    TERN_CHECK(device.type != TERN_DEVICE_UNSPECIFIED && device.index >= 0, TERN_ERR_ARG,
               "device_parse: \"%s\" is not a device: write cpu, cpu:1, cuda or cuda:0", text);
    TERN_TRY(tern_device_find("device_parse", &device));
    *out = device;
    return TERN_OK;
}

tern_device tern_try_gpu(int index)
{
    return index >= 0 && index < tern_device_count(TERN_CUDA) ? tern_cuda(index) : tern_cpu(0);
}

int tern_try_all_gpus(tern_device *out, int most)
{
    int count = tern_device_count(TERN_CUDA), given = count > 0 ? count : 1;
    for (int i = 0; out && i < given && i < most; i++)
        out[i] = tern_try_gpu(i);
    return given;
}

// ---- the current CUDA device --------------------------------------------------------------------

tern_status tern_cuda_set_device(int index)
{
    tern_device device = tern_cuda(index);
    TERN_TRY(tern_device_resolve("cuda_set_device", &device));
    current_cuda = device.index;
    return TERN_OK;
}

int tern_cuda_current_device(void)
{
    return current_cuda;
}

// ---- the default device -------------------------------------------------------------------------

tern_status tern_set_default_device(tern_device device)
{
    TERN_CHECK(device.type != TERN_DEVICE_UNSPECIFIED, TERN_ERR_ARG,
               "set_default_device: the device is unspecified");
    TERN_TRY(tern_device_resolve("set_default_device", &device));
    default_device = device;
    return TERN_OK;
}

tern_device tern_default_device(void)
{
    return default_device;
}

tern_device_guard_ tern_device_guard_open_(tern_device device)
{
    tern_device_guard_ guard = {default_device, current_cuda, false};
    guard.open = tern_set_default_device(device) == TERN_OK;
    if (guard.open && default_device.type == TERN_CUDA)
        current_cuda = default_device.index;
    return guard;
}

void tern_device_guard_close_(tern_device_guard_ *guard)
{
    default_device = guard->before;
    current_cuda = guard->cuda_before;
}

tern_status tern_synchronize(tern_device device)
{
    TERN_TRY(tern_device_resolve("synchronize", &device));
    return tern_fault_wait(device);
}
