// SPDX-License-Identifier: Apache-2.0
// What the machine is.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <tern/cuda.h>
#include <tern/threads.h>
#include <unistd.h>
#include "base/cancel.h"
#include "base/error.h"
#include "base/text.h"
#include "base/thread_pool_size.h"
#include "device/backend.h"
#include "train/resources/reading.h"

static void format(char *buffer, size_t size, const char *words, ...) TERN_PRINTF_(3, 4);
static void format(char *buffer, size_t size, const char *words, ...)
{
    va_list arguments;
    va_start(arguments, words);
    tern_text_format(buffer, size, words, arguments);
    va_end(arguments);
}

// The value of a line of a file, without quotes; "" where there is none.
static void read_text(const char *root, const char *path, const char *name, char *out, size_t size)
{
    char text[TERN_SYSTEM_FILE_SIZE];
    (void)tern_system_read(root, path, text, sizeof text);
    const char *value = tern_system_find(text, name);
    value = value ? value + (*value == '"') : "";
    format(out, size, "%.*s", (int)strcspn(value, "\"\n"), value);
}

static void read_cpu(tern_machine *m, const char *root)
{
    static const char *const names[] = {"model name", "Model", "Hardware", "cpu"};
    for (size_t i = 0; i < sizeof names / sizeof *names && !m->cpu[0]; i++)
        read_text(root, "/proc/cpuinfo", names[i], m->cpu, sizeof m->cpu);
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    m->cpus = cpus > 0 ? (int)cpus : 0;
    m->available_cpus = tern_pool_cpus();
    m->threads = tern_num_threads();
    format(m->isa, sizeof m->isa, "%s", tern_kernels_of(tern_cpu(0))->name);
}

static void read_system(tern_machine *m, const char *root)
{
    struct utsname system;
    char kilobytes[32];
    read_text(root, "/etc/os-release", "PRETTY_NAME", m->os, sizeof m->os);
    read_text(root, "/proc/meminfo", "MemTotal", kilobytes, sizeof kilobytes);
    m->memory_bytes = 1024 * strtoll(kilobytes, NULL, 10);
    if (uname(&system))
        return;
    format(m->host, sizeof m->host, "%s", system.nodename);
    format(m->kernel, sizeof m->kernel, "%s %s %s", system.sysname, system.release, system.machine);
}

static void add_device(tern_machine *m, tern_device device, const char *name)
{
    const size_t length = strlen(m->devices);
    if (length + 8 > sizeof m->devices) // the rest has no room
        return;
    format(m->devices + length, sizeof m->devices - length, "%s%s%s%s%s", length ? ", " : "",
           tern_device_string(device), name[0] ? " (" : "", name, name[0] ? ")" : "");
}

// A device that fails says so where it is used.
static void name_of_cuda(int index, tern_cuda_properties *properties)
{
    properties->name[0] = 0;
    if (tern_error_pending())
        return;
    tern_error_delay();
    if (tern_cuda_get_properties(index, properties))
        tern_error_clear();
    tern_error_report();
}

static void read_devices(tern_machine *m)
{
    add_device(m, tern_cpu(0), "");
    for (int i = 1; i < TERN_MAX_DEVICES; i++)
        if (tern_device_is_open((tern_device){TERN_CPU, i}))
            add_device(m, (tern_device){TERN_CPU, i}, "");
    for (int i = 0; i < TERN_MAX_DEVICES; i++) {
        tern_cuda_properties properties;
        if (!tern_device_is_open((tern_device){TERN_CUDA, i}))
            continue;
        name_of_cuda(i, &properties);
        add_device(m, (tern_device){TERN_CUDA, i}, properties.name);
    }
}

void tern_machine_read_below(tern_machine *m, const char *root)
{
    const int saved = errno, cancel_state = tern_cancel_disable();
    *m = (tern_machine){.cpu = ""};
    read_cpu(m, root);
    read_system(m, root);
    read_devices(m);
    format(m->version, sizeof m->version, "%s", tern_version());
    tern_cancel_restore(cancel_state);
    errno = saved;
}

tern_status tern_machine_read(tern_machine *machine)
{
    if (!machine)
        return tern_null_error("machine_read", "machine");
    tern_machine_read_below(machine, "");
    return TERN_OK;
}
