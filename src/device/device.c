// SPDX-License-Identifier: Apache-2.0
// Which devices there are, and which one a call means.
#include <string.h>
#include "base/error.h"
#include "device/current.h"
#include "device/fault.h"
#include "device/plugin.h"

tern_device tern_device_best(void)
{
    return tern_try_gpu(0);
}

tern_status tern_device_find(const char *op, tern_device *device)
{
    tern_device wanted = tern_device_or_default(*device);
    TERN_CHECK(wanted.type == TERN_CPU || wanted.type == TERN_CUDA, TERN_ERR_DEVICE,
               "%s: %d is no type of device", op, (int)wanted.type);
    int count = tern_device_count(wanted.type);
    TERN_CHECK(wanted.type != TERN_CUDA || count > 0, TERN_ERR_DEVICE, "%s: there is no %s: %s", op,
               tern_device_string(wanted), tern_cuda_reason());
    TERN_CHECK(wanted.index >= 0 && wanted.index < count, TERN_ERR_DEVICE,
               "%s: there is no device %s: %d of its kind are available%s", op,
               tern_device_string(wanted), count,
               wanted.type == TERN_CUDA ? tern_cuda_visible()
                                        : "; TERN_CPU_DEVICES in the environment says how many");
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
        device.index = tern_cuda_current_device();
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

int tern_try_all_gpus(tern_device *out, int capacity)
{
    int count = tern_device_count(TERN_CUDA), given = count > 0 ? count : 1;
    for (int i = 0; out && i < given && i < capacity; i++)
        out[i] = tern_try_gpu(i);
    return given;
}

// ---- the current CUDA device --------------------------------------------------------------------

tern_status tern_cuda_set_device(int index)
{
    tern_device device = tern_cuda(index);
    TERN_TRY(tern_device_resolve("cuda_set_device", &device));
    tern_cuda_current_device_set(device.index);
    return TERN_OK;
}

// ---- the default device -------------------------------------------------------------------------

tern_status tern_set_default_device(tern_device device)
{
    TERN_CHECK(device.type != TERN_DEVICE_UNSPECIFIED, TERN_ERR_ARG,
               "set_default_device: the device is unspecified");
    TERN_TRY(tern_device_resolve("set_default_device", &device));
    tern_default_device_set(device);
    return TERN_OK;
}

tern_device_guard_ tern_device_guard_open_(tern_device device)
{
    tern_device_guard_ guard = {tern_default_device(), tern_cuda_current_device(), false};
    guard.open = tern_set_default_device(device) == TERN_OK;
    if (guard.open && tern_default_device().type == TERN_CUDA)
        tern_cuda_current_device_set(tern_default_device().index);
    return guard;
}

void tern_device_guard_close_(tern_device_guard_ *guard)
{
    tern_default_device_set(guard->before);
    tern_cuda_current_device_set(guard->cuda_before);
}

tern_status tern_synchronize(tern_device device)
{
    TERN_TRY(tern_device_resolve("synchronize", &device));
    return tern_fault_wait(device);
}
