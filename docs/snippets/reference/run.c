// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/run.h, for the site.
#include "examples.h"

#include <sys/stat.h>

static void write_log(void)
{
    mkdir("run", 0777);
    FILE *file = fopen("run/log.jsonl", "w");
    expect(file && fputs("{\"kind\":\"scalar\",\"step\":1,\"time\":1,\"tag\":\"valid/loss\","
                         "\"value\":0.5}\n",
                         file) >= 0);
    expect(file && !fclose(file));
}

static void show_run_read(void)
{
    // [tern_run_read]
    tern_run_points loss;
    tern_run *run = tern_run_read("run");
    tern_status status = tern_run_curve(run, "valid/loss", &loss);
    // [/tern_run_read]
    expect(!status && loss.values[0] == 0.5);
    tern_run_free(run);
}

static void show_run_page_write(void)
{
    // [tern_run_page_write]
    if (tern_run_page_write("run/run.html", 1, (const char *[]){"run"}))
        tern_error_print(stderr);
    // [/tern_run_page_write]
    expect(!tern_error_pending());
}

int run_examples(void)
{
    write_log();
    show_run_read();
    show_run_page_write();
    return failures;
}
