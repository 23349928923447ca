// SPDX-License-Identifier: Apache-2.0
// Every public function has a case that it refuses, or an entry that says why it cannot fail.
#include "manifest.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "errors.h"

#define MAX_FUNCTIONS 2000
#define NAME_SIZE     80

static char functions[MAX_FUNCTIONS][NAME_SIZE];
static int tensors_taken[MAX_FUNCTIONS]; // parameters that are tensors, or arrays of them
static int function_count;
static int header_count;
static char *const *header_paths;

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (file && text)
        (void)!fread(text, 1, (1 << 20) - 1, file);
    if (!file)
        print_error("cannot read %s\n", path);
    else
        fclose(file);
    return text;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Parameters of type tern_tensor * or tern_tensor *const *, and const tern_tensors *; a
// tern_tensor ** is where results go.
static int count_tensors(const char *begin, const char *end)
{
    static const char *const types[] = {"tern_tensor *", "const tern_tensors *"};
    int count = 0;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        size_t length = strlen(types[k]);
        for (const char *at = begin; (at = strstr(at, types[k])) && at < end; at += length)
            count += at[length] != '*';
    }
    return count;
}

// The name before the first parenthesis after TERN_API.
static void add_declaration(const char *text)
{
    const char *end = strchr(text, '(');
    if (!end || function_count == MAX_FUNCTIONS)
        return;
    tensors_taken[function_count] = count_tensors(end, strchr(end, ';'));
    const char *begin = end;
    while (begin > text && in_name(begin[-1]))
        begin--;
    snprintf(functions[function_count++], NAME_SIZE, "%.*s", (int)(end - begin), begin);
}

// "TERN_API " at the beginning of a line.
static int read_headers(void **state)
{
    (void)state;
    for (int i = 0; i < header_count; i++) {
        char *text = read_text(header_paths[i]);
        for (char *at = text; at && (at = strstr(at, "TERN_API")); at += 8)
            if ((at == text || at[-1] == '\n') && isspace((unsigned char)at[8]))
                add_declaration(at + 8);
        free(text);
    }
    return 0;
}

static bool declared(const char *name)
{
    for (int i = 0; i < function_count; i++)
        if (strcmp(functions[i], name) == 0)
            return true;
    return false;
}

typedef struct entries {
    int refusals, reasons;
} entries;

static entries entries_of(const char *function)
{
    entries e = {0};
    for (const error_case *c = error_cases(); c; c = c->next) {
        if (strcmp(c->function, function) != 0)
            continue;
        e.refusals += c->words && c->code != TERN_OK;
        e.reasons += c->cannot_fail;
    }
    return e;
}

static void the_headers_were_found(void **state)
{
    (void)state;
    assert_true(header_count > 10);
    assert_true(function_count > 250);
    assert_true(declared("tern_version"));
    assert_true(declared("tern_add"));
    assert_true(declared("tern_error_raise"));
    assert_true(declared("tern_module_summary_print_with"));
}

static void every_function_has_a_case_or_a_reason(void **state)
{
    (void)state;
    int missing = 0;
    for (int i = 0; i < function_count; i++) {
        entries e = entries_of(functions[i]);
        if (e.refusals + e.reasons > 0)
            continue;
        print_error("%s has no case\n", functions[i]);
        missing++;
    }
    assert_int_equal(missing, 0);
}

static int deaths_of(const char *function)
{
    int count = 0;
    for (const error_case *c = error_cases(); c; c = c->next)
        count += strcmp(c->function, function) == 0 && c->call && c->words &&
                 c->code == TERN_ERR_STATE && strstr(c->words, "died") != NULL;
    return count;
}

static void every_tensor_that_a_function_takes_has_a_case_in_which_it_died(void **state)
{
    (void)state;
    int missing = 0, taken = 0;
    for (int i = 0; i < function_count; i++) {
        taken += tensors_taken[i];
        if (deaths_of(functions[i]) >= tensors_taken[i])
            continue;
        print_error("%s takes %d tensors, but only %d died in its cases\n", functions[i],
                    tensors_taken[i], deaths_of(functions[i]));
        missing++;
    }
    assert_true(taken > 150);
    assert_int_equal(missing, 0);
}

static void no_function_that_cannot_fail_has_a_refusal(void **state)
{
    (void)state;
    for (int i = 0; i < function_count; i++) {
        entries e = entries_of(functions[i]);
        if (e.reasons > 1 || (e.reasons && e.refusals))
            fail_msg("%s has %d reasons and %d refusals", functions[i], e.reasons, e.refusals);
    }
}

static void every_case_is_about_a_public_function(void **state)
{
    (void)state;
    for (const error_case *c = error_cases(); c; c = c->next)
        if (!declared(c->function))
            fail_msg("%s is in no public header", c->function);
}

int run_manifest(int count, char *const *headers)
{
    header_count = count;
    header_paths = headers;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_headers_were_found),
        cmocka_unit_test(every_function_has_a_case_or_a_reason),
        cmocka_unit_test(every_tensor_that_a_function_takes_has_a_case_in_which_it_died),
        cmocka_unit_test(no_function_that_cannot_fail_has_a_refusal),
        cmocka_unit_test(every_case_is_about_a_public_function),
    };
    return cmocka_run_group_tests_name("manifest", tests, read_headers, NULL);
}
