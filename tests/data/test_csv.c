// SPDX-License-Identifier: Apache-2.0
// CSV files that are as they should be.
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data_fixture.h"
#include "golden/golden.h"

static const char *csv(const char *text)
{
    return write_file("a.csv", text, strlen(text));
}

// All samples at once.
static tern_batch all_of(tern_dataset *set)
{
    int64_t index[64];
    tern_batch b;
    const int64_t count = tern_dataset_count(set);
    assert_true(count >= 1 && count <= 64);
    for (int64_t i = 0; i < count; i++)
        index[i] = i;
    assert_int_equal(tern_dataset_get(set, index, count, &b), TERN_OK);
    b.index = NULL;
    return b;
}

static void assert_x(tern_dataset *set, int64_t rows, int64_t columns, const float *values)
{
    assert_non_null(set);
    const tern_batch b = all_of(set);
    assert_int_equal(tern_dtype_of(b.x), TERN_FLOAT32);
    assert_true(tern_shape_equal(tern_shape_of(b.x), tern_dims(rows, columns)));
    for (int64_t i = 0; i < rows * columns; i++)
        if (!(((float *)tern_data(b.x))[i] == values[i] ||
              (isnan(values[i]) && isnan(((float *)tern_data(b.x))[i]))))
            fail_msg("element %d is %.9g, not %.9g", (int)i, ((float *)tern_data(b.x))[i],
                     values[i]);
}

static void assert_y(tern_dataset *set, int64_t rows, const int64_t *values)
{
    const tern_batch b = all_of(set);
    assert_int_equal(tern_dtype_of(b.y), TERN_INT64);
    assert_true(tern_shape_equal(tern_shape_of(b.y), tern_dims(rows)));
    assert_memory_equal(tern_data(b.y), values, (size_t)rows * sizeof *values);
}

#define X(set, rows, columns, ...) assert_x(set, rows, columns, (const float[]){__VA_ARGS__})
#define Y(set, rows, ...)          assert_y(set, rows, (const int64_t[]){__VA_ARGS__})

static void numbers_and_a_label_of_texts(void **state)
{
    (void)state;
    tern_dataset *set =
        tern_data_csv(csv("a,b,kind\n1,2.5,dog\n-3,4e1,cat\n.5,6.,dog\n"), .label = "kind");
    X(set, 3, 2, 1, 2.5f, -3, 40, 0.5f, 6);
    Y(set, 3, 1, 0, 1);
    assert_int_equal(tern_dataset_class_count(set), 2);
    assert_string_equal(tern_dataset_class_name(set, 0), "cat");
    assert_string_equal(tern_dataset_class_name(set, 1), "dog");
    tern_dataset_free(set);
}

static void without_a_label_there_is_x_alone(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("a,b\n1,2\n3,4\n"));
    X(set, 2, 2, 1, 2, 3, 4);
    const tern_batch b = all_of(set);
    assert_int_equal(b.count, 1);
    assert_int_equal(tern_dataset_class_count(set), 0);
    tern_dataset_free(set);
}

static void a_label_may_be_in_the_middle_or_named_by_number(void **state)
{
    (void)state;
    csv("a,l,b\n1,0,2\n3,2,4\n");
    const char *path = path_of("a.csv");
    tern_dataset *sets[] = {tern_data_csv(path, .label = "l"),
                            tern_data_csv(path, .label_column = 1),
                            tern_data_csv(path, .label_column = -2)};
    for (int i = 0; i < 3; i++) {
        X(sets[i], 2, 2, 1, 2, 3, 4);
        Y(sets[i], 2, 0, 2);
        assert_int_equal(tern_dataset_class_count(sets[i]), 3);
        assert_null(tern_dataset_class_name(sets[i], 2));
        tern_dataset_free(sets[i]);
    }
}

static void labels_may_be_numbers_to_predict(void **state)
{
    (void)state;
    tern_dataset *set =
        tern_data_csv(csv("a,l\n1,0.25\n3,-2\n"), .label = "l", .label_dtype = TERN_FLOAT32);
    const tern_batch b = all_of(set);
    assert_int_equal(tern_dtype_of(b.y), TERN_FLOAT32);
    assert_memory_equal(tern_data(b.y), ((float[]){0.25f, -2}), 8);
    assert_int_equal(tern_dataset_class_count(set), 0);
    tern_dataset_free(set);
}

static void negative_labels_count_no_classes(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("a,l\n1,-1\n3,5\n"), .label = "l");
    Y(set, 2, -1, 5);
    assert_int_equal(tern_dataset_class_count(set), 0);
    tern_dataset_free(set);
}

static void without_a_header_columns_have_numbers(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("1,x,9\n3,y,8\n"), .header = false, .label = "1",
                                      .skip = (const char *const[]){"2", NULL});
    X(set, 2, 1, 1, 3);
    Y(set, 2, 0, 1);
    tern_dataset_free(set);
}

static void texts_of_features_are_numbered_in_order(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("city,n\nRome,1\nBern,2\nRome,3\nOslo,4\n"));
    X(set, 4, 2, 2, 1, 0, 2, 2, 3, 1, 4);
    tern_dataset_free(set);
}

static void declared_categories_may_be_numbers(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("zip,l\n10,5\n9,7\nA1,5\n"), .label = "l",
                                      .categories = (const char *const[]){"zip", "l", NULL});
    X(set, 3, 1, 0, 1, 2); // "10" < "9" < "A1" by their bytes
    Y(set, 3, 0, 1, 0);
    assert_string_equal(tern_dataset_class_name(set, 1), "7");
    tern_dataset_free(set);
}

static void empty_cells_are_filled_where_that_is_asked_for(void **state)
{
    (void)state;
    const char *path = csv("a,b\n1,\n,x\nNA,\"\"\n");
    tern_dataset *set = tern_data_csv(path, .fill_empty = true, .fill = -7, .missing = "NA");
    X(set, 3, 2, 1, -7, -7, 0, -7, -7);
    tern_dataset_free(set);
    set = tern_data_csv(path, .fill_empty = true, .fill = (double)NAN, .missing = "NA");
    X(set, 3, 2, 1, NAN, NAN, 0, NAN, NAN);
    tern_dataset_free(set);
}

static void quotes_are_as_rfc_4180_has_them(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(
        csv("\"a\",\"l \"\"x\"\"\"\n\"1\",\"one, two\"\n2,\"line\nline\"\n3,\"\"\"\"\n4,plain\n"),
        .label = "l \"x\"");
    X(set, 4, 1, 1, 2, 3, 4);
    Y(set, 4, 2, 1, 0, 3);
    assert_string_equal(tern_dataset_class_name(set, 0), "\"");
    assert_string_equal(tern_dataset_class_name(set, 1), "line\nline");
    assert_string_equal(tern_dataset_class_name(set, 2), "one, two");
    char name[64];
    assert_true(tern_dataset_sample_name(set, 1, name, sizeof name));
    assert_string_equal(name, "a.csv, line 3");
    assert_true(tern_dataset_sample_name(set, 2, name, sizeof name));
    assert_string_equal(name, "a.csv, line 5");
    tern_dataset_free(set);
}

static void a_sample_is_named_by_its_line(void **state)
{
    (void)state;
    char name[64];
    tern_dataset *set = tern_data_csv(csv("a\n1\n2\n"));
    assert_true(tern_dataset_sample_name(set, 1, name, sizeof name));
    assert_string_equal(name, "a.csv, line 3");
    tern_dataset_free(set);
    set = tern_data_csv(csv("1\n2\n\n3\n"), .header = false);
    assert_true(tern_dataset_sample_name(set, 0, name, sizeof name));
    assert_string_equal(name, "a.csv, line 1");
    assert_true(tern_dataset_sample_name(set, 2, name, sizeof name));
    assert_string_equal(name, "a.csv, line 4");
    tern_dataset_free(set);
}

static void line_ends_and_a_byte_order_mark_do_not_count(void **state)
{
    (void)state;
    const char *const same[] = {"a,b\n1,2\n3,4\n",
                                "a,b\n1,2\n3,4",
                                "a,b\r\n1,2\r\n3,4\r\n",
                                "\xEF\xBB\xBF"
                                "a,b\n1,2\n3,4\n",
                                "\n\na,b\n\n1,2\n\r\n3,4\n\n\n",
                                "a,b\r\n1,2\n3,4"};
    for (int i = 0; i < 6; i++) {
        tern_dataset *set = tern_data_csv(csv(same[i]), .label = "a");
        X(set, 2, 1, 2, 4);
        Y(set, 2, 1, 3);
        tern_dataset_free(set);
    }
}

static void other_separators(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("a;b\n1;\"2;\"\n"), .separator = ';', .label = "b");
    X(set, 1, 1, 1);
    assert_string_equal(tern_dataset_class_name(set, 0), "2;");
    tern_dataset_free(set);
    set = tern_data_csv(csv("a\tb\n1\t2\n"), .separator = '\t');
    X(set, 1, 2, 1, 2);
    tern_dataset_free(set);
}

static void blanks_around_numbers_do_not_count(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("a,b,l\n 1 ,\t+2, x\n"), .label = "l");
    X(set, 1, 2, 1, 2);
    assert_string_equal(tern_dataset_class_name(set, 0), " x");
    tern_dataset_free(set);
}

static void doubles_are_kept_where_that_is_asked_for(void **state)
{
    (void)state;
    tern_dataset *set = tern_data_csv(csv("a,b\n0.1,1e300\n"), .dtype = TERN_FLOAT64);
    const tern_batch b = all_of(set);
    assert_memory_equal(tern_data(b.x), ((double[]){0.1, 1e300}), 16);
    tern_dataset_free(set);
}

// The decimal comma of another locale changes nothing.
static void numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    const char *before = setlocale(LC_NUMERIC, NULL);
    char saved[64];
    snprintf(saved, sizeof saved, "%s", before);
    (void)setlocale(LC_NUMERIC, "de_DE.UTF-8"); // where it is installed
    tern_dataset *set = tern_data_csv(csv("a\n1.5\n3.141592653589793238462643383279502884\n"));
    (void)setlocale(LC_NUMERIC, saved);
    X(set, 2, 1, 1.5f, 3.14159274f);
    tern_dataset_free(set);
}

// ---- like another file --------------------------------------------------------------------------

static void a_file_like_another_has_its_codes(void **state)
{
    (void)state;
    tern_dataset *train =
        tern_data_csv(csv("city,n,l\nRome,1,b\nBern,2,a\nOslo,3,c\n"), .label = "l");
    tern_dataset *test =
        tern_data_csv(csv("city,n,l\nRome,5,c\nOslo,6,c\n"), .label = "l", .like = train);
    tern_dataset *unlabelled = tern_data_csv(csv("city,n\nBern,7\n"), .like = train);
    tern_dataset_free(train); // the others have what they need of it
    X(test, 2, 2, 2, 5, 1, 6);
    Y(test, 2, 2, 2);
    assert_int_equal(tern_dataset_class_count(test), 3);
    assert_string_equal(tern_dataset_class_name(test, 0), "a");
    X(unlabelled, 1, 2, 0, 7);
    tern_dataset_free(test);
    tern_dataset_free(unlabelled);
}

// ---- beside pandas ------------------------------------------------------------------------------

static void check_against_pandas(const golden_case *c)
{
    const golden_array *file = golden_find_array(c, "file"), *x = golden_find_array(c, "x");
    const golden_array *y = golden_find_array(c, "y");
    const char *path = write_file("golden.csv", file->data, (size_t)file->numel);
    const char *separator = golden_text(c, "separator");
    tern_dataset *set = tern_data_csv(
        path, .label = golden_text(c, "label"), .header = golden_number(c, "header", 0) != 0,
        .separator = strcmp(separator, "tab") == 0 ? '\t' : separator[0],
        .fill_empty = golden_number(c, "fill_empty", 0) != 0, .fill = (double)NAN);
    assert_non_null(set);
    assert_x(set, x->shape.dim[0], x->shape.dim[1], x->data);
    if (y)
        assert_y(set, y->numel, y->data);
    tern_dataset_free(set);
}

// Stored by tests/golden/make_datasets.py.
static void values_are_those_that_pandas_reads(void **state)
{
    (void)state;
    const golden_file *file = golden_read("datasets");
    int checked = 0;
    for (int i = 0; i < file->count; i++)
        if (strncmp(file->cases[i].name, "csv ", 4) == 0) {
            check_against_pandas(&file->cases[i]);
            checked++;
        }
    assert_true(checked >= 6);
}

// ---- large and small ----------------------------------------------------------------------------

static void a_file_of_many_blocks_is_read_whole(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    FILE *file = fopen(path_of("long.csv"), "wb");
    assert_non_null(file);
    fputs("a,b,l\n", file);
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d,%d.5,\"c%d\"\n", i, i % 7, i % 3);
    fclose(file);
    const int64_t before = memory.bytes;
    memory.peak = before;
    tern_dataset *set = tern_data_csv(path_of("long.csv"), .label = "l");
    assert_non_null(set);
    assert_int_equal(tern_dataset_count(set), ROWS);
    // 2 float32 and an int64 a row, and little beside.
    assert_true(memory.peak - before < 16 * ROWS + (64 << 10));
    for (int64_t i = 0; i < ROWS; i += 997) {
        tern_scope inner = tern_scope_open();
        tern_sample s;
        assert_int_equal(tern_dataset_item(set, i, &s), TERN_OK);
        assert_true(((float *)tern_data(s.x))[0] == (float)i);
        assert_true(((float *)tern_data(s.x))[1] == (float)(i % 7) + 0.5f);
        assert_true(tern_item(s.y) == (double)(i % 3));
        tern_scope_close(inner);
    }
    tern_dataset_free(set);
}

static tern_dataset *open_for_memory(void)
{
    const char *path = path_of("a.csv");
    return tern_data_csv(path, .label = "l", .fill_empty = true);
}

static void no_memory_for_csv_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    csv("city,n,l\n\nRome,1,b\nBern,,a\nOslo,3,c\n");
    assert_needs_memory(open_for_memory, 15);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(numbers_and_a_label_of_texts),
        DATA_TEST(without_a_label_there_is_x_alone),
        DATA_TEST(a_label_may_be_in_the_middle_or_named_by_number),
        DATA_TEST(labels_may_be_numbers_to_predict),
        DATA_TEST(negative_labels_count_no_classes),
        DATA_TEST(without_a_header_columns_have_numbers),
        DATA_TEST(texts_of_features_are_numbered_in_order),
        DATA_TEST(declared_categories_may_be_numbers),
        DATA_TEST(empty_cells_are_filled_where_that_is_asked_for),
        DATA_TEST(quotes_are_as_rfc_4180_has_them),
        DATA_TEST(a_sample_is_named_by_its_line),
        DATA_TEST(line_ends_and_a_byte_order_mark_do_not_count),
        DATA_TEST(other_separators),
        DATA_TEST(blanks_around_numbers_do_not_count),
        DATA_TEST(doubles_are_kept_where_that_is_asked_for),
        DATA_TEST(numbers_do_not_depend_on_the_locale),
        DATA_TEST(a_file_like_another_has_its_codes),
        DATA_TEST(values_are_those_that_pandas_reads),
        DATA_TEST(a_file_of_many_blocks_is_read_whole),
        DATA_TEST(no_memory_for_csv_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests_name("csv", tests, start_group, end_group);
}
