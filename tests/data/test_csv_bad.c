// SPDX-License-Identifier: Apache-2.0
// CSV files that are refused, each by a sentence with file and line.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"

static void refuses(const char *text, size_t nbytes, const char *label, const char *words)
{
    write_file("bad.csv", text, nbytes);
    assert_null(tern_data_csv(path_of("bad.csv"), .label = label));
    assert_true(strstr(tern_error_message(), "bad.csv") != NULL);
    assert_error(TERN_ERR_FORMAT, words);
}

#define REFUSES(text, label, words) refuses(text, sizeof text - 1, label, words)

static void ragged_rows_are_refused(void **state)
{
    (void)state;
    REFUSES("a,b\n1,2\n3\n", NULL, "line 3: its cells number 1, those of the first line 2");
    REFUSES("a,b\n1,2\n\n3,4,5\n", NULL, "line 4: its cells number 3, those of the first line 2");
    REFUSES("a,b\n1,2\n3,4,\n", NULL, "line 3: its cells number 3");
}

static void numbers_that_are_none_are_refused(void **state)
{
    (void)state;
    REFUSES("a,b\n1,2\n3,x\n", NULL, "line 3: column \"b\": \"x\" is no number");
    static const char *const none[] = {"0x10", "1_000", "1e",  "1e+",   ".",  "+",  "--1",
                                       "1 2",  "nan",   "inf", "1.2.3", "e5", "1,5"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        char text[64];
        snprintf(text, sizeof text, "a\n1\n\"%s\"\n", none[i]);
        refuses(text, strlen(text), NULL, "is no number");
    }
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    REFUSES("a\n1\n1e999\n", NULL, "line 3: column \"a\": \"1e999\" is beyond what float32 holds");
    REFUSES("a\n-1e39\n", NULL, "line 2: column \"a\": \"-1e39\" is beyond what float32 holds");
    write_file("bad.csv", "a\n1e39\n1e999\n", 13);
    assert_null(tern_data_csv(path_of("bad.csv"), .dtype = TERN_FLOAT64));
    assert_error(TERN_ERR_FORMAT, "line 3: column \"a\": \"1e999\" is beyond what float64 holds");
    write_file("bad.csv", "a,l\n1,1e39\n", 11);
    assert_null(tern_data_csv(path_of("bad.csv"), .label = "l", .label_dtype = TERN_FLOAT32));
    assert_error(TERN_ERR_FORMAT, "line 2: column \"l\": \"1e39\" is beyond");
}

static void a_nul_byte_is_refused(void **state)
{
    (void)state;
    REFUSES("a,b\n1,\0002\n", NULL, "line 2: there is a NUL byte");
    REFUSES("a,b\n1,\"x\n\0\"\n", NULL, "line 3: there is a NUL byte");
}

static void a_label_that_is_missing_is_refused(void **state)
{
    (void)state;
    REFUSES("a,l\n1,x\n2,\n", "l", "line 3: column \"l\": the label is missing");
    write_file("bad.csv", "a,l\n1,?\n", 8);
    assert_null(
        tern_data_csv(path_of("bad.csv"), .label = "l", .fill_empty = true, .missing = "?"));
    assert_error(TERN_ERR_FORMAT, "line 2: column \"l\": the label is missing");
}

static void an_empty_cell_is_refused_unless_it_is_filled(void **state)
{
    (void)state;
    REFUSES("a,b\n1,\n", NULL, "line 2: column \"b\": the cell is empty; .fill_empty = true");
}

static void quotes_in_the_wrong_place_are_refused(void **state)
{
    (void)state;
    REFUSES("a,b\n1,x\"y\n", NULL, "line 2: there is a quote in the middle of a cell");
    REFUSES("a,b\n1,\"x\"y\n", NULL, "line 2: there is text behind a closing quote");
    REFUSES("a,b\n1,\"x\n2,3\n", NULL, "line 2: a quote is opened and never closed");
    REFUSES("a,\"b", NULL, "line 1: a quote is opened and never closed");
}

static void a_carriage_return_alone_is_refused(void **state)
{
    (void)state;
    REFUSES("a,b\r1,2\r", NULL, "line 1: there is a carriage return without a line feed");
}

static void numbers_among_texts_are_refused(void **state)
{
    (void)state;
    REFUSES("a\nx\n1\n", NULL, "line 3: column \"a\": \"1\" is a number among texts; .categories");
    REFUSES("a,l\n1,x\n1,2\n", "l", "line 3: column \"l\": \"2\" is a number among texts");
    REFUSES("a,l\n1,1\n1,x\n", "l", "line 3: column \"l\": \"x\" is no number");
    REFUSES("a,l\n1,1\n1,2.5\n", "l", "line 3: column \"l\": the label \"2.5\" is no integer");
    REFUSES("a,l\n1,99999999999999999999\n", "l", "is no integer");
}

static void texts_that_are_no_utf8_are_refused_and_escaped(void **state)
{
    (void)state;
    REFUSES("a\n\xC4rger\n", NULL, "line 2: column \"a\": \"\\xc4rger\" is no UTF-8");
    REFUSES("\xC4\n1\n", NULL, "line 1: the name of column 0 is no UTF-8");
}

static void files_without_rows_or_features_are_refused(void **state)
{
    (void)state;
    REFUSES("", NULL, "bad.csv is empty");
    REFUSES("\n\r\n", NULL, "bad.csv is empty");
    REFUSES("a,b\n", NULL, "bad.csv has a header and no rows");
    REFUSES("l\nx\n", "l", "bad.csv has no column that is a feature");
}

static void columns_that_are_not_there_are_refused(void **state)
{
    (void)state;
    REFUSES("a,b\n1,2\n", "c", "bad.csv has no column \"c\"");
    REFUSES("a,b,b\n1,2,3\n", "b", "bad.csv has 2 columns \"b\"");
    const char *path = path_of("bad.csv");
    assert_null(tern_data_csv(path, .label_column = 3));
    assert_error(TERN_ERR_FORMAT, "label_column is 3, but");
    assert_null(tern_data_csv(path, .label_column = -4));
    assert_error(TERN_ERR_FORMAT, "label_column is -4, but");
    assert_null(tern_data_csv(path, .skip = (const char *const[]){"x", NULL}));
    assert_error(TERN_ERR_FORMAT, "has no column \"x\"");
    assert_null(tern_data_csv(path, .label = "a", .skip = (const char *const[]){"a", NULL}));
    assert_error(TERN_ERR_ARG, "column \"a\" is the label and is to be skipped");
    assert_null(tern_data_csv(path, .skip = (const char *const[]){"a", NULL},
                              .categories = (const char *const[]){"a", NULL}));
    assert_error(TERN_ERR_ARG, "column \"a\" has categories and is to be skipped");
    assert_null(tern_data_csv(path, .label = "a", .label_dtype = TERN_FLOAT32,
                              .categories = (const char *const[]){"a", NULL}));
    assert_error(TERN_ERR_ARG, "column \"a\" has categories, but its labels are numbers");
    assert_null(tern_data_csv(path, .fill_empty = true, .fill = 1e39));
    assert_error(TERN_ERR_ARG, "fill is 1e+39, which float32 does not hold");
}

static void a_record_without_an_end_is_refused_in_bounded_memory(void **state)
{
    (void)state;
    const size_t nbytes = (17 << 20);
    char *text = malloc(nbytes);
    assert_non_null(text);
    memset(text, 'x', nbytes);
    memcpy(text, "a\n\"", 3);
    write_file("bad.csv", text, nbytes);
    free(text);
    assert_null(tern_data_csv(path_of("bad.csv")));
    assert_error(TERN_ERR_FORMAT, "line 2: the record has more than 16777216 bytes; is a quote");
}

// ---- like another file --------------------------------------------------------------------------

static void unlike(tern_dataset *train, const char *text, const char *label, tern_status code,
                   const char *words)
{
    write_file("test.csv", text, strlen(text));
    assert_null(tern_data_csv(path_of("test.csv"), .label = label, .like = train));
    assert_error(code, words);
}

static void what_training_has_not_seen_is_refused(void **state)
{
    (void)state;
    write_file("train.csv", "city,n,l\nRome,1,b\nBern,2,a\n", 27);
    tern_dataset *train = tern_data_csv(path_of("train.csv"), .label = "l");
    unlike(train, "city,n,l\nRome,5,wolf\n", "l", TERN_ERR_FORMAT,
           "test.csv, line 2: column \"l\": \"wolf\" is none of the 2 texts that it has in");
    unlike(train, "city,n,l\nParis,5,a\n", "l", TERN_ERR_FORMAT,
           "line 2: column \"city\": \"Paris\" is none of the 2 texts");
    unlike(train, "n,city,l\n5,Rome,a\n", "l", TERN_ERR_FORMAT,
           "line 1: column 0 is \"n\", but in");
    unlike(train, "city,l\nRome,a\n", "l", TERN_ERR_FORMAT, "has 1 columns of features, but");
    unlike(train, "city,n,l\nRome,x,a\n", "l", TERN_ERR_FORMAT, "\"x\" is no number");
    assert_null(tern_data_csv(path_of("train.csv"), .label = "n", .label_dtype = TERN_FLOAT32,
                              .like = train));
    assert_error(TERN_ERR_ARG, "are classes, and so must be those of");
    tern_dataset_free(train);
}

static void integers_beyond_the_classes_of_training_are_refused(void **state)
{
    (void)state;
    write_file("train.csv", "n,l\n1,0\n2,2\n", 12);
    tern_dataset *train = tern_data_csv(path_of("train.csv"), .label = "l");
    unlike(train, "n,l\n1,1\n1,3\n", "l", TERN_ERR_FORMAT,
           "line 3: column \"l\": 3 is none of the 3 classes of");
    unlike(train, "n,l\n1,-1\n", "l", TERN_ERR_FORMAT, "-1 is none of the 3 classes");
    tern_dataset *bare = tern_data_csv(path_of("train.csv"));
    write_file("two.csv", "n,l,m\n1,0,3\n", 12);
    assert_null(tern_data_csv(path_of("two.csv"), .label = "m", .like = bare));
    assert_error(TERN_ERR_ARG, "was read without");
    tern_dataset_free(bare);
    tern_dataset_free(train);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(ragged_rows_are_refused),
        DATA_TEST(numbers_that_are_none_are_refused),
        DATA_TEST(numbers_that_do_not_fit_are_refused),
        DATA_TEST(a_nul_byte_is_refused),
        DATA_TEST(a_label_that_is_missing_is_refused),
        DATA_TEST(an_empty_cell_is_refused_unless_it_is_filled),
        DATA_TEST(quotes_in_the_wrong_place_are_refused),
        DATA_TEST(a_carriage_return_alone_is_refused),
        DATA_TEST(numbers_among_texts_are_refused),
        DATA_TEST(texts_that_are_no_utf8_are_refused_and_escaped),
        DATA_TEST(files_without_rows_or_features_are_refused),
        DATA_TEST(columns_that_are_not_there_are_refused),
        DATA_TEST(a_record_without_an_end_is_refused_in_bounded_memory),
        DATA_TEST(what_training_has_not_seen_is_refused),
        DATA_TEST(integers_beyond_the_classes_of_training_are_refused),
    };
    return cmocka_run_group_tests_name("csv_bad", tests, start_group, end_group);
}
