// SPDX-License-Identifier: Apache-2.0
// test_errors GROUP runs the cases of cases_GROUP.c; test_errors manifest HEADER... checks that
// every function that the headers declare has a case.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fixture.h"
#include "support/host.h"
#include "manifest.h"

static error_case *first, *last;

void error_case_add(error_case *new_case)
{
    if (last)
        last->next = new_case;
    else
        first = new_case;
    last = new_case;
}

const error_case *error_cases(void)
{
    return first;
}

// ---- one case -----------------------------------------------------------------------------------

static int first_errors; // lines about an error that became pending
static int log_lines;    // others
static char last_first[1024];

static void count_line(tern_log_level level, const char *line, void *user)
{
    (void)user;
    if (level != TERN_LOG_ERROR) {
        log_lines++;
        return;
    }
    first_errors++;
    snprintf(last_first, sizeof last_first, "%s", line);
}

static void check_words(const char *words, const char *sentence)
{
    char copy[512];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|"))
        if (!strstr(sentence, word))
            fail_msg("\"%s\" does not say \"%s\"", sentence, word);
}

static void check_sentence(const error_case *c)
{
    const char *sentence = tern_error_message();
    if (tern_error_code() != c->code)
        fail_msg("the code is %s, not %s: %s", tern_status_name(tern_error_code()),
                 tern_status_name(c->code), sentence);
    check_words(c->words, sentence);
    assert_true(strlen(sentence) > 10);
    assert_null(strchr(sentence, '\n'));
}

// The call in a scope of its own: what it changes in the fixture or leaves alive is a failure.
static outcome call(const error_case *c, fixture *f)
{
    snapshot before = fixture_snapshot(f);
    tern_scope scope = tern_scope_open();
    host_state host = host_before();
    outcome result = c->call(f);
    const char *changed = host_difference(&host);
    if (changed)
        fail_msg("the call changed %s of the host", changed);
    tern_scope_close(scope);
    tern_optim_zero_grad(f->optim); // ends a value error that the call may have found
    snapshot after = fixture_snapshot(f);
    const char *difference = snapshot_difference(&before, &after);
    if (difference && c->code != TERN_OK)
        fail_msg("the call changed %s", difference);
    return result;
}

static void call_alone(const error_case *c, fixture *f)
{
    first_errors = 0;
    outcome result = call(c, f);
    if (!result.failed)
        fail_msg("the call worked (%s)", tern_error_message());
    check_sentence(c);
    if (result.has_code)
        assert_int_equal(result.code, c->code);
    assert_int_equal(log_lines, 0);
    assert_true(first_errors > 0); // a case may make another call fail first
    assert_string_equal(last_first, tern_error_message());
    tern_error_clear();
}

// The pending error stays; what is new goes to the log, but NULL is handed on without a word.
static void call_while_pending(const error_case *c, fixture *f)
{
    (void)tern_error_raise(TERN_ERR_IO, "the first error");
    first_errors = 0;
    outcome result = call(c, f);
    assert_string_equal(tern_error_message(), "the first error");
    assert_int_equal(first_errors, 0);
    assert_true(result.failed);
    if (c->code == TERN_ERR_NULL) {
        assert_int_equal(log_lines, 0);
        if (result.has_code)
            assert_int_equal(result.code, TERN_ERR_IO);
    }
    tern_error_clear();
}

static void run_refusal(const error_case *c, fixture *f)
{
    call_alone(c, f);
    call_while_pending(c, f);
    log_lines = 0;
    int64_t bytes = tern_memory_live_bytes();
    call_alone(c, f);
    assert_int_equal(tern_memory_live_bytes(), bytes);
}

static void run_case(void **state)
{
    const error_case *c = *state;
    fixture f;
    (void)signal(SIGSEGV, SIG_DFL); // a crash ends the run: locks may be held
    tern_error_clear();
    tern_scope scope = fixture_make(&f);
    if (!scope)
        fail_msg("the fixture cannot be made: %s", tern_error_message());
    log_lines = 0;
    tern_set_log(count_line, NULL);
    if (!c->words)
        call_while_pending(c, &f);
    else if (c->code != TERN_OK)
        run_refusal(c, &f);
    else if (call(c, &f).failed || tern_error_pending())
        fail_msg("the call failed: %s", tern_error_message());
    tern_set_log(NULL, NULL);
    fixture_free(&f, scope);
}

// ---- groups -------------------------------------------------------------------------------------

static bool in_group(const error_case *c, const char *group)
{
    const char *slash = strrchr(c->group, '/');
    const char *file = slash ? slash + 1 : c->group;
    size_t length = strlen(group);
    return strncmp(file, "cases_", 6) == 0 && strncmp(file + 6, group, length) == 0 &&
           strcmp(file + 6 + length, ".c") == 0;
}

static struct CMUnitTest make_test(error_case *c)
{
    static const char format[] = "%s %s %s";
    const char *verb = c->cannot_fail       ? "cannot fail:"
                       : !c->words          ? "hands on the error"
                       : c->code == TERN_OK ? "takes"
                                            : "refuses";
    size_t size = strlen(c->function) + strlen(c->what) + 32;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, format, c->function, verb, c->what);
    return (struct CMUnitTest){
        .name = name ? name : c->what, .test_func = run_case, .initial_state = c};
}

static int run_group(const char *group)
{
    size_t count = 0;
    for (const error_case *c = first; c; c = c->next)
        count += in_group(c, group);
    struct CMUnitTest *tests = calloc(count + 1, sizeof *tests);
    if (count == 0 || !tests) {
        fprintf(stderr, "there are no cases of %s\n", group);
        return 1;
    }
    count = 0;
    for (error_case *c = first; c; c = c->next)
        if (in_group(c, group))
            tests[count++] = make_test(c);
    int failures = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)tests[i].name);
    free(tests);
    tern_shutdown(); // what is left is a leak, for tools that look
    return failures;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: test_errors GROUP | manifest HEADER...\n");
        return 2;
    }
    if (strcmp(argv[1], "manifest") == 0)
        return run_manifest(argc - 2, argv + 2);
    return run_group(argv[1]);
}
