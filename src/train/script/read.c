// SPDX-License-Identifier: Apache-2.0
// Reads a command line: it is gone over three times, so that a line with a mistake sets nothing.
#include <string.h>
#include "base/error.h"
#include "train/script/value.h"

typedef enum pass_kind { CHECK, CALL, SET } pass_kind;

typedef struct reader {
    const tern_script *script;
    tern_option_list list;
    const char *program;
    int argc;
    char **argv;
    bool given[TERN_SCRIPT_OPTIONS];
    const char *value[TERN_SCRIPT_OPTIONS]; // as given; NULL of flags
} reader;

static tern_status take(reader *r, const tern_script_word *word, pass_kind pass)
{
    const tern_option *o = r->list.at[word->option];
    r->given[word->option] = true;
    r->value[word->option] = word->value;
    switch (pass) {
    case CHECK:
        return word->value ? tern_option_check(r->program, o, word->value) : TERN_OK;
    case CALL:
        return word->value ? tern_option_call(r->program, o, word->value) : TERN_OK;
    case SET:
        tern_option_set(o, word);
        return TERN_OK;
    }
    return TERN_OK;
}

// *action is that of --help or --version, where one of them ends the line.
static tern_status go_over(reader *r, pass_kind pass, tern_script_action *action)
{
    tern_script_words words = {
        .list = &r->list, .program = r->program, .argc = r->argc, .argv = r->argv, .at = 1};
    for (;;) {
        tern_script_word word;
        bool more;
        TERN_TRY(tern_script_next(&words, &word, &more));
        if (!more)
            return TERN_OK;
        if (word.option < 0) {
            *action = word.option == TERN_SCRIPT_WORD_HELP ? TERN_SCRIPT_HELP : TERN_SCRIPT_VERSION;
            return TERN_OK;
        }
        TERN_TRY(take(r, &word, pass));
    }
}

// ---- options that need or exclude others --------------------------------------------------------

static bool is_given(const reader *r, const char *name)
{
    const int index = tern_option_find(&r->list, name, strlen(name));
    return index >= 0 && r->given[index];
}

static tern_status check_together(const reader *r)
{
    for (int i = 0; i < r->list.count; i++) {
        const tern_option *o = r->list.at[i];
        if (!o->name || (!r->given[i] && !o->required))
            continue;
        const tern_label name = tern_option_label(o);
        TERN_CHECK(r->given[i], TERN_ERR_ARG, "%s: %s is missing; --help says what is taken",
                   r->program, name.text);
        TERN_CHECK(!o->needs || is_given(r, o->needs), TERN_ERR_ARG, "%s: %s: needs --%s",
                   r->program, name.text, o->needs);
        const tern_label value = tern_label_of(r->value[i] ? r->value[i] : "");
        TERN_CHECK(!o->excludes || !is_given(r, o->excludes), TERN_ERR_ARG,
                   "%s: %s%s%s: not together with --%s", r->program, name.text,
                   r->value[i] ? " " : "", value.text, o->excludes);
    }
    return TERN_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static tern_status run_check(const reader *r)
{
    if (!r->script->check)
        return TERN_OK;
    tern_error_delay();
    const tern_status status =
        tern_script_pass_on(r->script->check(r->script->user), r->program, "", "");
    tern_error_report();
    return status;
}

static tern_status read_line(reader *r, tern_script_action *action)
{
    TERN_TRY(go_over(r, CHECK, action));
    if (*action != TERN_SCRIPT_RUN)
        return TERN_OK;
    TERN_TRY(check_together(r));
    TERN_TRY(go_over(r, CALL, action));
    TERN_TRY(go_over(r, SET, action));
    return run_check(r);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

tern_script_action tern_script_read(const tern_script *script, int argc, char **argv)
{
    reader r = {.script = script, .argc = argc, .argv = argv};
    tern_script_action action = TERN_SCRIPT_RUN;
    if (tern_error_pending() || tern_option_list_make(&r.list, "script_read", script))
        return TERN_SCRIPT_WRONG;
    for (int i = 0; i < argc; i++)
        if (!argv || !argv[i]) {
            tern_null_error("script_read", argv ? "a word of argv" : "argv");
            return TERN_SCRIPT_WRONG;
        }
    r.program = script->name ? script->name : argc > 0 ? last_part(argv[0]) : "program";
    return read_line(&r, &action) ? TERN_SCRIPT_WRONG : action;
}
