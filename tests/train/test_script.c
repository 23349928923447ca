// SPDX-License-Identifier: Apache-2.0
// The command line of a program: what it sets, and what is refused.
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "support/tensor_check.h"

static int64_t epochs, seed, threads;
static double lr, ema, drop;
static const char *data, *save, *device, *devices, *optimizer, *hidden;
static bool augment, quiet, resume, lr_given;
static int hidden_count;

static tern_status read_hidden(const char *value, void *user)
{
    int *count = user;
    *count = 1;
    for (const char *at = value; *at; at++)
        *count += *at == ',';
    return strspn(value, "0123456789,") == strlen(value)
               ? TERN_OK
               : tern_error_raise(TERN_ERR_SHAPE, "not up to 8 widths");
}

static const char *const optimizers[] = {"adam", "adamw", "sgd", NULL};

static const tern_option options[] = {
    {"data", .text = &data, .value = "DIR", .help = "the four files"},
    {"epochs", 'e', .integer = {&epochs, 1, 1000}, .help = "passes over the images"},
    {"lr", 'l', .number = {&lr, 0, INFINITY}, .given = &lr_given, .help = "the learning rate"},
    {"ema", .number = {&ema, 0, 1}, .help = "averages"},
    {"drop", .number = {&drop, .low = -INFINITY, .high = 5}},
    {"seed", 's', .integer = {&seed, 0, INT64_MAX}},
    {"threads", .integer = {&threads}},
    {"optimizer", .choice = {&optimizer, optimizers}, .help = "how it learns:"},
    {"hidden", .text = &hidden, .read = read_hidden, .user = &hidden_count},
    {.section = "Files"},
    {"save", .text = &save, .value = "FILE"},
    {"resume", .flag = &resume, .needs = "save"},
    {"augment", 'a', .flag = &augment},
    {"quiet", 'q', .flag = &quiet},
    {0},
};

static const tern_option shared[] = {
    {"device", .text = &device},
    {"devices", .text = &devices, .excludes = "device"},
    {0},
};

static tern_status check_script(void *user)
{
    (void)user;
    return epochs == 13 ? tern_error_raise(TERN_ERR_ARG, "--epochs: 13 is unlucky") : TERN_OK;
}

static const tern_script script = {.name = "prog",
                                   .about = "Trains a net.",
                                   .options = options,
                                   .more = shared,
                                   .epilog = "Exit status: 0, or 2.",
                                   .version = "1.2",
                                   .check = check_script};

static int reset(void **state)
{
    epochs = 5, seed = 0, threads = 1, lr = 1e-3, ema = -1, drop = 0, hidden_count = 0;
    data = "/data", optimizer = "adam", hidden = "512,512";
    save = device = devices = NULL;
    augment = quiet = resume = lr_given = false;
    return check_open(state);
}

#define SCRIPT_TEST(name) cmocka_unit_test_setup_teardown(name, reset, check_close)

#define MAX_WORDS 32

// Reads the words of a line, which spaces part.
static tern_script_action read_by(const tern_script *s, const char *line)
{
    static char copy[2048];
    char *argv[MAX_WORDS + 1] = {(char[]){"/usr/bin/prog"}};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        assert_true(argc < MAX_WORDS);
        argv[argc++] = word;
    }
    return tern_script_read(s, argc, argv);
}

static tern_script_action read_line(const char *line)
{
    return read_by(&script, line);
}

#define assert_runs(line) assert_int_equal(read_line(line), TERN_SCRIPT_RUN)

// The whole sentence; nothing is set.
static void check_refused(const tern_script *s, const char *line, const char *sentence)
{
    assert_int_equal(read_by(s, line), TERN_SCRIPT_WRONG);
    assert_string_equal(tern_error_message(), sentence);
    assert_int_equal(tern_error_code(), TERN_ERR_ARG);
    tern_error_clear();
}

#define assert_refused(line, sentence) check_refused(&script, line, "prog: " sentence)

static void options_are_read_by_name_and_by_letter(void **state)
{
    (void)state;
    assert_runs("--epochs 7 --lr=0.5 -s3 -e 9 -l1e-3 --optimizer sgd -qa --threads -4 --drop -7");
    assert_int_equal(epochs, 9);
    assert_int_equal(seed, 3);
    assert_true(lr == 1e-3 && lr_given);
    assert_string_equal(optimizer, "sgd");
    assert_true(quiet && augment && !resume);
    assert_int_equal(threads, -4);
    assert_true(drop == -7);
    assert_string_equal(data, "/data");
}

static void a_value_out_of_range_is_refused_in_one_sentence(void **state)
{
    (void)state;
    assert_refused("--epochs 0", "--epochs 0: not a whole number of 1 to 1000");
    assert_refused("--epochs 1e3", "--epochs 1e3: not a whole number of 1 to 1000");
    assert_refused("-e -1", "--epochs -1: not a whole number of 1 to 1000");
    assert_refused("--seed 9223372036854775808",
                   "--seed 9223372036854775808: not a whole number of 0 or more");
    assert_refused("--threads x", "--threads x: not a whole number");
    assert_refused("--ema 1.5", "--ema 1.5: not a number of 0 to 1");
    assert_refused("--lr -1", "--lr -1: not a number of 0 or more");
    assert_refused("--lr nan", "--lr nan: not a number of 0 or more");
    assert_refused("--lr 0x10", "--lr 0x10: not a number of 0 or more");
    assert_refused("--lr 1e", "--lr 1e: not a number of 0 or more");
    assert_refused("--lr 1e999", "--lr 1e999: larger than any number of a double");
    assert_refused("--lr 1e-999", "--lr 1e-999: smaller than any number of a double");
    assert_refused("--drop 6", "--drop 6: not a number of 5 or less");
    assert_refused("--optimizer SGD", "--optimizer SGD: not one of adam, adamw and sgd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(options_are_read_by_name_and_by_letter),
        SCRIPT_TEST(a_value_out_of_range_is_refused_in_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
