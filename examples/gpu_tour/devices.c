// SPDX-License-Identifier: Apache-2.0
// Which devices there are, which one a call means, and their random numbers.
#include "tour.h"

#define GIB (1024.0 * 1024 * 1024)

static void say_gpu(int index)
{
    tern_cuda_properties p;
    tern_cuda_memory m;
    if (!tern_cuda_get_properties(index, &p) && !tern_cuda_get_memory(index, &m))
        say("cuda:%d is %s, capability %d.%d, %d multiprocessors, %.2f of %.2f GiB free", index,
            p.name, p.major, p.minor, p.multiprocessors, (double)m.free / GIB,
            (double)m.total / GIB);
}

static void say_by_free_memory(void)
{
    tern_device order[64];
    int count = tern_cuda_device_count();
    if (!tern_cuda_devices_by_free_memory(order, 64))
        say("the one of %d with most free memory: %s", count, tern_device_string(order[0]));
}

static void say_missing(const tour *t)
{
    tern_device missing = {t->device.type, tern_device_count(t->device.type)};
    say("tern_zeros on %s, which is one too many:", tern_device_string(missing));
    tern_zeros(tern_dims(2), .device = missing);
    say_mistake();
}

void show_devices(const tour *t)
{
    tern_device found[64], word;
    say("CUDA: %s", tern_cuda_reason());
    for (int i = 0; i < tern_cuda_device_count(); i++)
        say_gpu(i);
    if (tern_cuda_is_available())
        say_by_free_memory();
    say("CPU devices: %d", tern_device_count(TERN_CPU));
    int count = tern_try_all_gpus(found, 64);
    say("tern_try_all_gpus gives %d, the first is %s", count, tern_device_string(found[0]));
    say("tern_try_gpu(99) gives %s", tern_device_string(tern_try_gpu(99)));
    say("tern_device_best gives %s", tern_device_string(tern_device_best()));
    if (!tern_device_parse(tern_device_string(t->device), &word))
        say("tern_device_parse reads \"%s\" as type %d, index %d", tern_device_string(t->device),
            (int)word.type, word.index);
    say_missing(t);
    say("the tour goes to %s and %s", tern_device_string(t->device), tern_device_string(t->other));
}

// What the word "cuda" means, which is another thing.
static void say_current(const tour *t)
{
    tern_device word;
    int before = tern_cuda_current_device();
    int after = t->other.type == TERN_CUDA ? t->other.index : before;
    if (tern_cuda_set_device(after) || tern_device_parse("cuda", &word))
        return;
    say("after tern_cuda_set_device(%d) the word cuda means %s; new tensors still go to %s", after,
        tern_device_string(word), place(tern_zeros(tern_dims(2))));
    if (tern_cuda_set_device(before))
        say_mistake();
}

void show_default_device(const tour *t)
{
    say("at first: %s", place(tern_zeros(tern_dims(2))));
    tern_with_device(t->device)
    {
        say("inside tern_with_device(%s): %s", tern_device_string(t->device),
            place(tern_zeros(tern_dims(2))));
        say("told otherwise there: %s", place(tern_zeros(tern_dims(2), .device = t->host)));
    }
    say("after it: %s", place(tern_zeros(tern_dims(2))));
    if (t->device.type == TERN_CUDA)
        say_current(t);
}

static tern_tensor *draw(tern_device device)
{
    return tern_rand(tern_dims(4), .device = device);
}

void show_seeds(const tour *t)
{
    const char *name = tern_device_string(t->device);
    say("each device draws from a stream of its own; tern_manual_seed(7) sets all of them");
    tern_manual_seed(7);
    tern_tensor *first = draw(t->device), *second = draw(t->device);
    say("a second draw on %s goes on in its stream, with other numbers: %s", name,
        yes_or_no(!same_bits(first, second)));
    tern_manual_seed(7);
    (void)draw(t->host);
    (void)draw(t->other);
    say("seeded again, the first draw on %s is back, whatever other devices drew: %s", name,
        yes_or_no(same_bits(first, draw(t->device))));
    if (t->device.type != TERN_CUDA)
        return;
    tern_manual_seed(7);
    tern_tensor *on_host = draw(t->host);
    tern_cuda_manual_seed_all(8);
    tern_tensor *on_gpu = draw(t->device);
    say("tern_cuda_manual_seed_all(8) sets the streams of the GPUs alone: other numbers there: %s",
        yes_or_no(!same_bits(first, on_gpu)));
    tern_manual_seed(7);
    (void)draw(t->device);
    say("and the same ones on the CPU: %s", yes_or_no(same_bits(on_host, draw(t->host))));
}
