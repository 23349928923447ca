// SPDX-License-Identifier: Apache-2.0
#include "train/log/lines.h"

#include <stdio.h>
#include <tern/cuda.h>
#include <tern/resources.h>
#include <unistd.h>
#include "device/generator.h"
#include "device/state.h"
#include "train/log/json.h"

static void begin(tern_log_bytes *to, const char *kind, double time)
{
    tern_log_add_text(to, "{\"kind\":\"");
    tern_log_add_text(to, kind);
    tern_log_add_text(to, "\",\"time\":");
    tern_log_add_time(to, time);
}

static void add_text(tern_log_bytes *to, const char *name, const char *text)
{
    tern_json_add_name(to, name);
    tern_json_add_string(to, text);
}

static void add_integer(tern_log_bytes *to, const char *name, int64_t value)
{
    tern_json_add_name(to, name);
    tern_log_add_integer(to, value);
}

// ---- the machine --------------------------------------------------------------------------------

// CUDA devices that the process uses already: to ask for others would open them.
static void add_devices(tern_log_bytes *to)
{
    tern_json_add_name(to, "devices");
    tern_log_add_text(to, "[\"cpu\"");
    for (int i = 0; i < TERN_MAX_DEVICES; i++) {
        tern_cuda_properties facts;
        if (!tern_device_is_open(tern_cuda(i)) || tern_cuda_get_properties(i, &facts))
            continue;
        tern_log_add_text(to, ",");
        tern_json_add_string(to, facts.name);
    }
    tern_log_add_text(to, "]");
}

static void add_machine(tern_log_bytes *to, const tern_machine *m)
{
    tern_json_add_name(to, "machine");
    tern_log_add_text(to, "{\"cpu\":");
    if (m->cpu[0])
        tern_json_add_string(to, m->cpu);
    else
        tern_log_add_text(to, "null");
    add_integer(to, "cpus", m->cpus);
    add_integer(to, "threads", m->threads);
    add_text(to, "isa", m->isa);
    add_devices(to);
    tern_log_add_text(to, "}");
}

static void add_seed(tern_log_bytes *to)
{
    const tern_generator *generator = tern_default_generator(tern_cpu(0));
    char text[24];
    tern_json_add_name(to, "seed");
    snprintf(text, sizeof text, "%llu", generator ? (unsigned long long)generator->seed : 0);
    tern_log_add_text(to, generator ? text : "null");
}

// ---- lines --------------------------------------------------------------------------------------

void tern_log_run_line(tern_log_bytes *to, const tern_logger *logger, double time)
{
    tern_machine machine = {.cpu = ""};
    (void)!tern_machine_read(&machine); // fails for NULL alone
    begin(to, "run", time);
    add_integer(to, "schema", 1);
    add_text(to, "name", logger->name);
    add_text(to, "tern", machine.version);
    add_text(to, "host", machine.host);
    add_integer(to, "pid", getpid());
    add_seed(to);
    add_machine(to, &machine);
    tern_json_add_name(to, "resume_step");
    if (logger->resume_step >= 0)
        tern_log_add_integer(to, logger->resume_step);
    else
        tern_log_add_text(to, "null");
    tern_log_add_text(to, "}\n");
}

void tern_log_dropped_line(tern_log_bytes *to, int64_t count, double time)
{
    begin(to, "dropped", time);
    add_integer(to, "count", count);
    tern_log_add_text(to, "}\n");
}

void tern_log_end_line(tern_log_bytes *to, tern_run_status status, double time)
{
    begin(to, "end", time);
    add_text(to, "status", tern_run_status_name(status));
    tern_log_add_text(to, "}\n");
}
