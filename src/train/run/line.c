// SPDX-License-Identifier: Apache-2.0
// What one line of log.jsonl says, by its kind.
#include <string.h>

#include "base/error.h"
#include "base/integer.h"
#include "train/run/block.h"
#include "train/run/member.h"

// Seconds since 1970 that are no time: the year 33658, as far as a logger writes them.
#define MAX_TIME 1e12

// ---- kinds --------------------------------------------------------------------------------------

static tern_status scalar(tern_run *run, const tern_run_record *record)
{
    double value;
    if (!record->tag || !tern_run_number_member(record, "value", &value))
        return TERN_ERR_FORMAT;
    tern_run_entry *entry = tern_run_entry_make(run, TERN_RUN_SCALAR, record->tag);
    return entry ? tern_run_add_point(entry, record->step, record->time, value) : TERN_ERR_NOMEM;
}

// The members of an object as facts, texts without quotes, all else as it is written.
static tern_status read_facts(tern_run *run, tern_run_fact_list *list, tern_json *json)
{
    tern_run_record members;
    TERN_TRY(tern_run_members_read(json, &members));
    for (int i = 0; i < members.count; i++) {
        const tern_run_member *m = &members.at[i];
        char *const end = m->end, next = *end;
        *end = 0;
        const tern_status status = tern_run_set_fact(
            run, list, m->key, m->type == '"' ? m->text : m->begin, m->type == '"');
        *end = next;
        TERN_TRY(status);
    }
    return TERN_OK;
}

static tern_status settings(tern_run *run, const tern_run_record *record)
{
    const tern_run_member *m = tern_run_member_find(record, "settings");
    if (!m || m->type != '{')
        return TERN_ERR_FORMAT;
    tern_json json = tern_run_json_of(m);
    return read_facts(run, &run->settings, &json);
}

static tern_status machine(tern_run *run, const tern_run_record *record)
{
    static const char *const shown[] = {"tern", "host", "pid", "seed"};
    const tern_run_member *m = tern_run_member_find(record, "machine");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const tern_run_member *fact = tern_run_member_find(record, shown[i]);
        if (!fact || fact->type == 'n' || fact->type == '[' || fact->type == '{')
            continue;
        char *const end = fact->end, next = *end;
        *end = 0;
        const tern_status status =
            tern_run_set_fact(run, &run->facts, shown[i],
                              fact->type == '"' ? fact->text : fact->begin, fact->type == '"');
        *end = next;
        TERN_TRY(status);
    }
    if (!m || m->type != '{')
        return TERN_OK;
    tern_json json = tern_run_json_of(m);
    return read_facts(run, &run->facts, &json);
}

static tern_status kept_text(tern_run *run, const char *text, const char **kept)
{
    if (!text || (*kept && strcmp(*kept, text) == 0))
        return TERN_OK;
    const char *copy = tern_arena_text(&run->arena, text, strlen(text));
    if (!copy)
        return TERN_ERR_NOMEM;
    *kept = copy;
    return TERN_OK;
}

// A process begins. When it goes on from a step, later ones of the process before never were.
static tern_status process(tern_run *run, const tern_run_record *record)
{
    int64_t step;
    TERN_TRY(kept_text(run, tern_run_text_member(record, "name"), &run->name));
    run->host = NULL;
    TERN_TRY(kept_text(run, tern_run_text_member(record, "host"), &run->host));
    if (!tern_run_integer_member(record, "pid", &run->pid))
        run->pid = 0;
    TERN_TRY(machine(run, record));
    if (tern_run_integer_member(record, "resume_step", &step))
        TERN_TRY(tern_run_cut(run, step));
    if (run->info.processes++ == 0)
        run->info.started = record->time;
    run->process_started = record->time;
    run->ending = TERN_RUN_UNSPECIFIED;
    return TERN_OK;
}

static tern_status end(tern_run *run, const tern_run_record *record)
{
    const char *word = tern_run_text_member(record, "status");
    for (tern_run_status s = TERN_RUN_FINISHED; word && s <= TERN_RUN_FAILED; s++)
        if (strcmp(word, tern_run_status_name(s)) == 0)
            return run->ending = s, TERN_OK;
    return TERN_ERR_FORMAT;
}

// Each line counts what is missing since the one before.
static tern_status dropped(tern_run *run, const tern_run_record *record)
{
    int64_t count;
    if (!tern_run_integer_member(record, "count", &count) || count < 0)
        return TERN_ERR_FORMAT;
    run->info.dropped += min_int64(count, INT64_MAX - run->info.dropped);
    return TERN_OK;
}

// ---- the line -----------------------------------------------------------------------------------

static const struct kind {
    const char *name;
    bool has_step;
    tern_status (*take)(tern_run *run, const tern_run_record *record);
} kinds[] = {
    {"scalar", true, scalar},
    {"histogram", true, tern_run_take_histogram},
    {"image", true, tern_run_take_image},
    {"text", true, tern_run_take_text},
    {"matrix", true, tern_run_take_matrix},
    {"pr_curve", true, tern_run_take_pr_curve},
    {"run", false, process},
    {"settings", false, settings},
    {"dropped", false, dropped},
    {"end", false, end},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

// Pauses between processes do not count, nor does a clock that goes back.
static void count_time(tern_run *run, double time)
{
    if (run->info.written > 0 && time > run->info.written && time > run->process_started) {
        const double since =
            run->info.written > run->process_started ? run->info.written : run->process_started;
        run->info.seconds += time - since;
    }
    run->info.written = time;
    if (run->info.started <= 0)
        run->info.started = time;
}

tern_status tern_run_line(tern_run *run, char *line, char *line_end)
{
    tern_json json = {.start = line, .at = line, .end = line_end};
    tern_run_record record;
    TERN_TRY(tern_run_members_read(&json, &record));
    TERN_TRY(tern_json_end(&json));
    const char *word = tern_run_text_member(&record, "kind");
    const tern_run_member *time = tern_run_member_find(&record, "time");
    if (!word || !time || time->type != '0' || !(time->number >= 0 && time->number < MAX_TIME))
        return TERN_ERR_FORMAT;
    const struct kind *kind = find_kind(word);
    if (!kind)
        return TERN_OK;
    record.time = time->number;
    record.tag = tern_run_text_member(&record, "tag");
    if (kind->has_step && (!record.tag || !tern_run_integer_member(&record, "step", &record.step)))
        return TERN_ERR_FORMAT;
    TERN_TRY(kind->take(run, &record));
    if (kind->has_step && record.step > run->info.last_step)
        run->info.last_step = record.step;
    count_time(run, record.time);
    return TERN_OK;
}
