// SPDX-License-Identifier: Apache-2.0
// A walk through what devices do, on whatever devices there are: GPUs, else the CPU's own, as many
// as TERN_CPU_DEVICES says. Each section says what it does and what came out.
// Usage: gpu_tour [--quick]
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "tour.h"

// ---- telling ------------------------------------------------------------------------------------

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("  ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

void say_mistake(void)
{
    char sentence[600];
    tern_status status = tern_error_take(sentence, sizeof sentence);
    say("it says: %s", status ? sentence : "nothing, which is wrong");
}

const char *yes_or_no(bool answer)
{
    return answer ? "yes" : "no";
}

const char *place(const tern_tensor *t)
{
    return tern_device_string(tern_device_of(t));
}

bool same_bits(tern_tensor *a, tern_tensor *b)
{
    tern_tensor *left = tern_contiguous(tern_to(a, tern_cpu(0)));
    tern_tensor *right = tern_contiguous(tern_to(b, tern_cpu(0)));
    if (!left || !right || !tern_shape_equal(tern_shape_of(left), tern_shape_of(right)))
        return false;
    size_t nbytes = (size_t)tern_numel(left) * tern_dtype_size(tern_dtype_of(left));
    return memcmp(tern_data(left), tern_data(right), nbytes) == 0;
}

bool has_two(const tour *t)
{
    bool two = !tern_device_equal(t->device, t->other);
    if (!two)
        say("left out: there is one device only; TERN_CPU_DEVICES=3 makes more");
    return two;
}

bool has_gpu(const tour *t)
{
    if (t->device.type != TERN_CUDA)
        say("left out: there is no GPU: %s", tern_cuda_reason());
    return t->device.type == TERN_CUDA;
}

double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// ---- walking ------------------------------------------------------------------------------------

static const struct stop {
    const char *title;
    section *show;
} stops[] = {
    {"Devices and what they are", show_devices},
    {"The default device is where new tensors go", show_default_device},
    {"A tensor's move makes a new one", show_tensor_move},
    {"A module's move is in place", show_module_move},
    {"A criterion left behind", show_criterion},
    {"Results live where the operands are", show_results},
    {"A 0-dim CPU tensor may mix", show_scalars},
    {"Copies cross devices", show_copies},
    {"New tensors like another", show_likes},
    {"Half precision takes half the memory", show_half_memory},
    {"Half precision overflows", show_half_overflow},
    {"Seeds", show_seeds},
    {"Memory", show_memory},
    {"A model split over two devices", show_split},
    {"Data parallel: a part of each batch per device", show_data_parallel},
    {"Two devices at once", show_two_at_once},
    {"Products on the CPU and on the device", show_products},
    {"What reading a value each step costs", show_reading},
    {"A step captured once and replayed", show_graph},
};

static tour plan(bool quick)
{
    tour t = {.host = tern_cpu(0), .quick = quick};
    bool cuda = tern_cuda_is_available();
    int gpus = tern_device_count(TERN_CUDA), cpus = tern_device_count(TERN_CPU);
    t.device = cuda ? tern_cuda(0) : tern_cpu(cpus > 1);
    t.other = cuda && gpus > 1 ? tern_cuda(1) : !cuda && cpus > 2 ? tern_cpu(2) : t.host;
    return t;
}

static tern_status walk(const tour *t)
{
    for (size_t i = 0; i < sizeof stops / sizeof *stops && !tern_error_pending(); i++) {
        tern_scope scope = tern_scope_open();
        printf("%s%zu. %s\n", i ? "\n" : "", i + 1, stops[i].title);
        stops[i].show(t);
        fflush(stdout);
        tern_scope_close(scope);
    }
    return tern_error_code();
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("gpu_tour %s\n", tern_version()) < 0;
    bool quick = argc == 2 && strcmp(argv[1], "--quick") == 0;
    if (argc > 1 && !quick) {
        fputs("usage: gpu_tour [--quick | --version]\n", stderr);
        return 2;
    }
    tour t = plan(quick);
    int status = walk(&t) ? 1 : 0;
    tern_error_print(stderr);
    tern_shutdown();
    return status;
}
