// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/watching-a-run.md.
#include "check.h"

#include <sys/stat.h>

// What a run that came to its end has written.
static void write_log(void)
{
    mkdir("runs", 0777);
    mkdir("runs/a", 0777);
    FILE *file = fopen("runs/a/log.jsonl", "w");
    expect(file);
    fprintf(file, "{\"kind\":\"run\",\"schema\":1,\"time\":1764000000,\"name\":\"a\"}\n");
    for (int epoch = 1; epoch <= 3; epoch++)
        fprintf(file,
                "{\"kind\":\"scalar\",\"step\":%d,\"time\":1764000000,\"tag\":\"valid/loss\","
                "\"value\":%g}\n",
                100 * epoch, 1.0 / epoch);
    fprintf(file, "{\"kind\":\"end\",\"time\":1764000009,\"status\":\"finished\"}\n");
    expect(!fclose(file));
}

static void page(void)
{
    char line[64] = "";
    // [page]
    if (tern_run_page_write("runs/a/run.html", 1, (const char *[]){"runs/a"}))
        tern_error_print(stderr);
    // [/page]
    FILE *file = fopen("runs/a/run.html", "r");
    expect(file && fgets(line, sizeof line, file) && !strcmp(line, "<!DOCTYPE html>\n"));
    expect(file && !fclose(file));
}

static void read_back(void)
{
    // [read]
    tern_run *run = tern_run_read("runs/a");
    tern_run_points loss;
    if (run && !tern_run_curve(run, "valid/loss", &loss))
        for (int64_t i = 0; i < loss.count; i++)
            printf("step %lld: %g\n", (long long)loss.steps[i], loss.values[i]);
    // [/read]
    expect(loss.count == 3 && loss.steps[1] == 200 && loss.values[1] == 0.5);
    // [status]
    tern_run_info info;
    if (!tern_run_describe(run, &info))
        printf("%s is %s at step %lld\n", info.name, tern_run_status_name(info.status),
               (long long)info.last_step);
    // [/status]
    expect(info.status == TERN_RUN_FINISHED && info.last_step == 300);
    // [update]
    while (info.status == TERN_RUN_RUNNING && tern_run_update(run) >= 0) {
        if (tern_run_describe(run, &info))
            break;
        // look at its curves, then wait a while
    }
    tern_run_free(run);
    // [/update]
}

int main(void)
{
    write_log();
    page();
    read_back();
    expect(!tern_run_read("runs/none"));
    expect_error(TERN_ERR_IO);
    return finished();
}
