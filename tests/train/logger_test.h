// SPDX-License-Identifier: Apache-2.0
// What the tests of loggers share: a run's folder, and the lines of its files.
#ifndef TERN_TESTS_LOGGER_TEST_H
#define TERN_TESTS_LOGGER_TEST_H

#include <glob.h>

#include "train_test.h"

#define MAX_LINES 20000

// A text file, cut into lines.
typedef struct lines {
    char *text;
    int count;
    char *at[MAX_LINES];
} lines;

static lines read_lines;

static inline int count_of(const char *line, const char *part)
{
    int count = 0;
    for (const char *at = line; (at = strstr(at, part)); at++)
        count++;
    return count;
}

// Nothing torn is glued to what comes behind it.
static inline void assert_one_entry(const char *name, const char *line)
{
    if (strcmp(name, "log.jsonl") == 0) {
        assert_true(strncmp(line, "{\"kind\":\"", 9) == 0 && line[strlen(line) - 1] == '}');
        assert_int_equal(count_of(line, "\"kind\":"), 1);
    } else if (strcmp(name, "log.csv") == 0 && strncmp(line, "time,", 5) != 0) {
        const size_t seconds = strspn(line, "0123456789");
        assert_true(line[seconds] == '.' && line[seconds + 7] == ',');
    }
}

// The lines of a file of the run, valid until the next call.
static inline const lines *lines_of(const char *name)
{
    size_t size;
    free(read_lines.text);
    read_lines.text = read_bytes(path_of(name), &size);
    read_lines.text[size] = 0;
    read_lines.count = 0;
    assert_true(size == 0 || read_lines.text[size - 1] == '\n');
    for (char *at = strtok(read_lines.text, "\n"); at; at = strtok(NULL, "\n")) {
        assert_true(read_lines.count < MAX_LINES);
        assert_one_entry(name, at);
        read_lines.at[read_lines.count++] = at;
    }
    return &read_lines;
}

static inline bool line_has(const char *line, const char *part)
{
    return strstr(line, part) != NULL;
}

// How many lines of the file have all of a part.
static inline int count_lines(const char *name, const char *part)
{
    const lines *l = lines_of(name);
    int count = 0;
    for (int i = 0; i < l->count; i++)
        count += line_has(l->at[i], part);
    return count;
}

// The one line of log.jsonl with that part.
static inline const char *line_with(const char *part)
{
    const lines *l = lines_of("log.jsonl");
    const char *found = NULL;
    for (int i = 0; i < l->count; i++)
        if (line_has(l->at[i], part)) {
            assert_null(found);
            found = l->at[i];
        }
    if (!found)
        fail_msg("no line has %s", part);
    return found;
}

// What stands behind the time of a line.
static inline const char *behind_time(const char *line)
{
    const char *time = strstr(line, "\"time\":");
    assert_non_null(time);
    return time + strcspn(time, ",}");
}

static inline double time_of(const char *line)
{
    const char *time = strstr(line, "\"time\":");
    assert_non_null(time);
    return strtod(time + 7, NULL);
}

static inline int count_event_files(void)
{
    char pattern[128];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/events.out.tfevents.*", folder);
    const int failed = glob(pattern, 0, NULL, &found);
    assert_true(!failed || failed == GLOB_NOMATCH);
    const int count = failed ? 0 : (int)found.gl_pathc;
    globfree(&found);
    return count;
}

static inline int logger_close(void **state)
{
    free(read_lines.text);
    read_lines.text = NULL;
    return folder_close(state);
}

#define LOGGER_TEST(name) cmocka_unit_test_setup_teardown(name, folder_open, logger_close)

// Only log.jsonl.
#define LINES_ALONE .tensorboard = false

#endif
