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
    if (epochs == 14)
        (void)!tern_error_raise(TERN_ERR_ARG, "--epochs: nobody says so");
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

static void what_is_no_option_is_refused_and_the_nearest_name_is_suggested(void **state)
{
    (void)state;
    assert_refused("--epoch 3", "--epoch: no such option; did you mean --epochs?");
    assert_refused("--epohcs 3", "--epohcs: no such option; did you mean --epochs?");
    assert_refused("--optim=sgd", "--optim=sgd: no such option; did you mean --optimizer?");
    assert_refused("--hlep", "--hlep: no such option; did you mean --help?");
    assert_refused("-epochs 3", "--epochs pochs: not a whole number of 1 to 1000");
    assert_refused("-z", "-z: no such option; --help lists them");
    assert_refused("-qz", "-qz: no such option; --help lists them");
    assert_refused("--completely-else", "--completely-else: no such option; --help lists them");
    assert_refused("--=3", "--=3: no such option; --help lists them");
    assert_refused("--no-epochs", "--no-epochs: no such option; did you mean --epochs?");
    assert_refused("5", "5: no option, and nothing else is taken; --help says what is taken");
    assert_refused("-- --quiet",
                   "--quiet: no option, and nothing else is taken; --help says what is taken");
}

static void a_missing_value_and_a_value_for_a_flag_are_refused(void **state)
{
    (void)state;
    assert_refused("--epochs", "--epochs: needs a value; --help says more");
    assert_refused("--save --quiet", "--save: needs a value; --help says more");
    assert_refused("-qe", "-e: needs a value; --help says more");
    assert_refused("--quiet=1", "--quiet=1: takes no value");
    assert_refused("--no-quiet=", "--no-quiet=: takes no value");
    assert_refused("--help=all", "--help=all: takes no value");
    assert_refused("--epochs=", "--epochs : not a whole number of 1 to 1000");
    assert_runs("--save=--quiet --data=");
    assert_string_equal(save, "--quiet");
    assert_string_equal(data, "");
}

static void the_last_of_an_option_given_twice_counts(void **state)
{
    (void)state;
    assert_runs("--epochs 7 --augment --no-augment --no-quiet --quiet -e 8");
    assert_int_equal(epochs, 8);
    assert_true(quiet && !augment);
}

static void options_that_need_or_exclude_others_are_refused_alone_or_together(void **state)
{
    (void)state;
    assert_refused("--resume", "--resume: needs --save");
    assert_refused("--devices a,b --device c", "--devices a,b: not together with --device");
    assert_runs("--resume --save x --devices a,b");
    assert_true(resume);
}

static void functions_of_the_programs_own_take_values_and_refuse_them(void **state)
{
    (void)state;
    assert_refused("--hidden 5,x --quiet", "--hidden 5,x: not up to 8 widths");
    assert_string_equal(hidden, "512,512");
    assert_runs("--hidden 5,6,7");
    assert_int_equal(hidden_count, 3);
    assert_string_equal(hidden, "5,6,7");
    assert_refused("--epochs 13", "--epochs: 13 is unlucky");
    assert_refused("--epochs 14", "--epochs: nobody says so"); // but leaves it pending
}

static void a_line_with_a_mistake_sets_nothing(void **state)
{
    (void)state;
    assert_refused("--epochs 7 --lr 2 --augment --save x --ema 2",
                   "--ema 2: not a number of 0 to 1");
    assert_refused("--epochs 7 --hidden x", "--hidden x: not up to 8 widths");
    assert_true(epochs == 5 && lr == 1e-3 && !lr_given && !augment && !save);
}

static void help_and_version_end_the_reading(void **state)
{
    (void)state;
    assert_int_equal(read_line("--epochs 7 --help --epochs 0"), TERN_SCRIPT_HELP);
    assert_int_equal(read_line("-qh"), TERN_SCRIPT_HELP);
    assert_int_equal(read_line("--version"), TERN_SCRIPT_VERSION);
    assert_refused("--epochs 0 --help", "--epochs 0: not a whole number of 1 to 1000");
    assert_true(epochs == 5 && !quiet);
}

// ---- arguments ----------------------------------------------------------------------------------

static void arguments_are_taken_by_their_place(void **state)
{
    static const char *in, *out;
    static int64_t count;
    const tern_option table[] = {
        {"IN", .text = &in, .argument = true, .required = true},
        {"COUNT", .integer = {&count, 1, 9}, .argument = true},
        {"out", 'o', .text = &out, .required = true},
        {0},
    };
    const tern_script copy = {.options = table};
    (void)state;
    assert_int_equal(read_by(&copy, "a -o b 3"), TERN_SCRIPT_RUN);
    assert_string_equal(in, "a");
    assert_string_equal(out, "b");
    assert_int_equal(count, 3);
    assert_int_equal(read_by(&copy, "--out - -- --a"), TERN_SCRIPT_RUN);
    assert_string_equal(in, "--a");
    assert_string_equal(out, "-");
    check_refused(&copy, "-o b", "prog: IN is missing; --help says what is taken");
    check_refused(&copy, "a", "prog: --out is missing; --help says what is taken");
    check_refused(&copy, "a 0 -o b", "prog: COUNT 0: not a whole number of 1 to 9");
    check_refused(&copy, "a 1 c -o b", "prog: c: one argument too many; --help says what is taken");
}

// ---- what is shown ------------------------------------------------------------------------------

static char shown[4096];

// What tern_script_print writes, in `shown`; its result.
static int print(const tern_script *s, tern_script_action action, const char *columns)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    setenv("COLUMNS", columns, 1);
    const int status = tern_script_print(s, action, file);
    unsetenv("COLUMNS");
    rewind(file);
    shown[fread(shown, 1, sizeof shown - 1, file)] = 0;
    fclose(file);
    return status;
}

static void help_shows_names_texts_and_defaults(void **state)
{
    (void)state;
    assert_int_equal(print(&script, TERN_SCRIPT_HELP, "80"), 0);
    assert_string_equal(shown,
                        "Usage: prog [OPTION..]\n"
                        "Trains a net.\n"
                        "\n"
                        "  --data DIR             the four files (/data)\n"
                        "  -e, --epochs N         passes over the images (5)\n"
                        "  -l, --lr X             the learning rate (0.001)\n"
                        "  --ema X                averages\n"
                        "  --drop X               (0)\n"
                        "  -s, --seed N           (0)\n"
                        "  --threads N            (1)\n"
                        "  --optimizer NAME       how it learns: one of adam, adamw, sgd (adam)\n"
                        "  --hidden TEXT          (512,512)\n"
                        "\n"
                        "Files:\n"
                        "  --save FILE\n"
                        "  --resume\n"
                        "  -a, --augment\n"
                        "  -q, --quiet\n"
                        "  --device TEXT\n"
                        "  --devices TEXT\n"
                        "  -h, --help             this text\n"
                        "  --version              the version\n"
                        "\n"
                        "Exit status: 0, or 2.\n");
}

static void help_is_wrapped_to_the_width(void **state)
{
    static double share = 0.25;
    static bool mirror = true;
    const tern_option table[] = {
        {"share-of-the-features", .number = {&share, 0, 1},
         .help = "what is left out, caf\u00e9s and all"},
        {"mirror", .flag = &mirror, .help = "left is right", .default_help = "on"},
        {0},
    };
    const tern_script copy = {.name = "p",
                              .about = "One two three fourths six seven eights nine ten\neleven",
                              .options = table,
                              .epilog = "With\n  spaces  that  stay where they are\nas they are."};
    (void)state;
    assert_int_equal(print(&copy, TERN_SCRIPT_HELP, "59"), 0);
    assert_string_equal(shown, "Usage: p [OPTION..]\n"
                               "One two three fourths six seven eights nine ten\n"
                               "eleven\n"
                               "\n"
                               "  --share-of-the-features X\n"
                               "                         what is left out, caf\u00e9s and all\n"
                               "                         (0.25)\n"
                               "  --no-mirror            left is right (on)\n"
                               "  -h, --help             this text\n"
                               "  --version              the version\n"
                               "\n"
                               "With\n"
                               "  spaces  that  stay where they are\n"
                               "as they are.\n");
    assert_int_equal(print(&copy, TERN_SCRIPT_HELP, "5"), 0); // as for 20
    assert_string_equal(shown, "Usage: p [OPTION..]\n"
                               "One two three\n"
                               "fourths six seven\n"
                               "eights nine ten\n"
                               "eleven\n"
                               "\n"
                               "  --share-of-the-features X\n"
                               "      what is left\n"
                               "      out, caf\u00e9s and\n"
                               "      all (0.25)\n"
                               "  --no-mirror\n"
                               "      left is right\n"
                               "      (on)\n"
                               "  -h, --help\n"
                               "      this text\n"
                               "  --version\n"
                               "      the version\n"
                               "\n"
                               "With\n"
                               "  spaces  that  stay where they are\n"
                               "as they are.\n");
}

static void the_version_and_errors_are_shown_with_the_status_for_main(void **state)
{
    (void)state;
    assert_int_equal(print(&script, TERN_SCRIPT_VERSION, "80"), 0);
    assert_string_equal(shown, "prog 1.2\n");
    assert_int_equal(read_line("--ema 2"), TERN_SCRIPT_WRONG);
    assert_int_equal(print(&script, TERN_SCRIPT_WRONG, "80"), 2);
    assert_string_equal(shown, "prog: --ema 2: not a number of 0 to 1\n");
    assert_false(tern_error_pending());
    assert_int_equal(print(&script, TERN_SCRIPT_RUN, "80"), 0);
    assert_string_equal(shown, "");
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(tern_script_print(&script, TERN_SCRIPT_HELP, full), 1);
    assert_error(TERN_ERR_IO, "script_print: the file cannot be written");
    fclose(full);
}

static void long_and_strange_words_are_cut_and_escaped(void **state)
{
    char line[600], word[401];
    (void)state;
    memset(word, 'x', 400);
    word[400] = 0;
    snprintf(line, sizeof line, "--epochs %s", word);
    assert_int_equal(read_line(line), TERN_SCRIPT_WRONG);
    assert_non_null(strstr(tern_error_message(), "xxx...: not a whole number of 1 to 1000"));
    tern_error_clear();
    assert_refused("--ema \033[31m\xff", "--ema ?[31m\\xff: not a number of 0 to 1");
}

// ---- settings -----------------------------------------------------------------------------------

static void options_are_given_as_settings(void **state)
{
    tern_setting all[32];
    (void)state;
    assert_runs("--epochs 7 --augment --lr 0.5");
    assert_int_equal(tern_script_settings(&script, NULL, 0), 11);
    assert_int_equal(tern_script_settings(&script, all, 32), 11); // without ema, save, devices
    assert_string_equal(all[0].name, "data");
    assert_int_equal(all[0].type, TERN_SETTING_TEXT);
    assert_string_equal(all[0].text, "/data");
    assert_true(all[1].type == TERN_SETTING_INT && all[1].integer == 7);
    assert_true(all[2].type == TERN_SETTING_DOUBLE && all[2].number == 0.5);
    assert_string_equal(all[3].name, "drop");
    assert_string_equal(all[6].text, "adam");
    assert_string_equal(all[7].text, "512,512");
    assert_string_equal(all[9].name, "augment");
    assert_true(all[9].type == TERN_SETTING_BOOL && all[9].truth);
    all[3].name = NULL;
    assert_int_equal(tern_script_settings(&script, all, 3), 11); // no more than there is room for
    assert_null(all[3].name);
}

// ---- tables that make no sense ------------------------------------------------------------------

static void check_table(const tern_option *row, const char *sentence)
{
    tern_option table[3] = {{"epochs", 'e', .integer = {&epochs, 1, 5}}, *row, {0}};
    const tern_script copy = {.options = table};
    check_refused(&copy, "", sentence);
    assert_int_equal(tern_script_settings(&copy, NULL, 0), -1);
    assert_error(TERN_ERR_ARG, sentence);
}

#define assert_senseless(sentence, ...)                                                            \
    check_table(&(const tern_option){__VA_ARGS__}, "script: option \"" sentence)

static void tables_that_make_no_sense_are_refused(void **state)
{
    static const char *const none[] = {NULL};
    (void)state;
    assert_senseless("a b\": no name for an option: it is written without dashes, spaces and =",
                     "a b", .flag = &quiet);
    assert_senseless("--x\": no name for an option: it is written without dashes, spaces and =",
                     "--x", .flag = &quiet);
    assert_senseless("help\": --help, -h and --version are always there", "help", .flag = &quiet);
    assert_senseless("x\": --help, -h and --version are always there", "x", 'h', .flag = &quiet);
    assert_senseless("x\": its .letter is neither a letter nor a digit", "x", '-', .flag = &quiet);
    assert_senseless("x\": give one of .integer, .number, .choice, .flag, .text and .read (.text "
                     "and .read may go together)",
                     "x", .help = "nothing");
    assert_senseless("x\": give one of .integer, .number, .choice, .flag, .text and .read (.text "
                     "and .read may go together)",
                     "x", .flag = &quiet, .text = &data);
    assert_senseless("x\": its range ends before it begins", "x", .integer = {&seed, 2, 1});
    assert_senseless("x\": its .choice has no names", "x", .choice = {&optimizer, none});
    optimizer = "no";
    assert_senseless("x\": its default \"no\" is not one of its names", "x",
                     .choice = {&optimizer, optimizers});
    assert_senseless("epochs\" is there twice", "epochs", .flag = &quiet);
    assert_senseless("x\": -e is another option's already", "x", 'e', .flag = &quiet);
    assert_senseless("x\": .needs is \"y\", which is no option", "x", .flag = &quiet, .needs = "y");
    assert_senseless("x\": .excludes is \"y\", which is no option", "x", .flag = &quiet,
                     .excludes = "y");
    check_table(&(const tern_option){"X", .flag = &quiet, .argument = true},
                "script: argument \"X\": takes its place's value, and has neither .flag nor "
                ".letter");
}

static void a_table_without_an_end_is_refused(void **state)
{
    static tern_option table[TERN_SCRIPT_OPTIONS + 1];
    const tern_script copy = {.options = table};
    (void)state;
    for (int i = 0; i <= TERN_SCRIPT_OPTIONS; i++)
        table[i] = (tern_option){.section = "More"};
    check_refused(&copy, "", "script: at most 256 options, and {0} ends a table");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRIPT_TEST(options_are_read_by_name_and_by_letter),
        SCRIPT_TEST(a_value_out_of_range_is_refused_in_one_sentence),
        SCRIPT_TEST(what_is_no_option_is_refused_and_the_nearest_name_is_suggested),
        SCRIPT_TEST(a_missing_value_and_a_value_for_a_flag_are_refused),
        SCRIPT_TEST(the_last_of_an_option_given_twice_counts),
        SCRIPT_TEST(options_that_need_or_exclude_others_are_refused_alone_or_together),
        SCRIPT_TEST(functions_of_the_programs_own_take_values_and_refuse_them),
        SCRIPT_TEST(a_line_with_a_mistake_sets_nothing),
        SCRIPT_TEST(help_and_version_end_the_reading),
        SCRIPT_TEST(arguments_are_taken_by_their_place),
        SCRIPT_TEST(help_shows_names_texts_and_defaults),
        SCRIPT_TEST(help_is_wrapped_to_the_width),
        SCRIPT_TEST(the_version_and_errors_are_shown_with_the_status_for_main),
        SCRIPT_TEST(long_and_strange_words_are_cut_and_escaped),
        SCRIPT_TEST(options_are_given_as_settings),
        SCRIPT_TEST(tables_that_make_no_sense_are_refused),
        SCRIPT_TEST(a_table_without_an_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
