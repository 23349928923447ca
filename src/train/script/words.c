// SPDX-License-Identifier: Apache-2.0
#include "train/script/words.h"
#include <string.h>
#include "base/error.h"

static tern_status refuse_unknown(const tern_script_words *words, const char *word)
{
    const char *nearest = tern_option_nearest(words->list, word + strspn(word, "-"));
    if (nearest)
        return tern_error_raise(TERN_ERR_ARG, "%s: %s: no such option; did you mean --%s?",
                                words->program, tern_label_of(word).text, nearest);
    return tern_error_raise(TERN_ERR_ARG, "%s: %s: no such option; --help lists them",
                            words->program, tern_label_of(word).text);
}

// Two dashes begin an option and no value: a value that was forgotten is not the next option.
static tern_status take_value(tern_script_words *words, const char *name, tern_script_word *word)
{
    const char *next = words->at < words->argc ? words->argv[words->at] : NULL;
    TERN_CHECK(next && strncmp(next, "--", 2) != 0, TERN_ERR_ARG,
               "%s: %s: needs a value; --help says more", words->program, tern_label_of(name).text);
    word->value = next;
    words->at++;
    return TERN_OK;
}

static bool takes_value(const tern_script_words *words, int option)
{
    return option >= 0 && !words->list->at[option]->flag;
}

// Exactly that name, or --no- and a flag.
static int find_name(const tern_script_words *words, const char *name, size_t length, bool *off)
{
    int found = tern_option_find(words->list, name, length);
    *off = false;
    if (found >= 0)
        return found;
    if (length == 4 && memcmp(name, "help", 4) == 0)
        return TERN_SCRIPT_WORD_HELP;
    if (length == 7 && memcmp(name, "version", 7) == 0)
        return TERN_SCRIPT_WORD_VERSION;
    if (length <= 3 || memcmp(name, "no-", 3) != 0)
        return -1;
    found = tern_option_find(words->list, name + 3, length - 3);
    *off = found >= 0 && words->list->at[found]->flag;
    return *off ? found : -1;
}

static tern_status read_name(tern_script_words *words, const char *word, tern_script_word *out)
{
    const char *name = word + 2, *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    out->option = find_name(words, name, length, &out->off);
    if (out->option == -1)
        return refuse_unknown(words, word);
    if (takes_value(words, out->option) && !equals)
        return take_value(words, word, out);
    out->value = equals ? equals + 1 : NULL;
    TERN_CHECK(!equals || takes_value(words, out->option), TERN_ERR_ARG, "%s: %s: takes no value",
               words->program, tern_label_of(word).text);
    return TERN_OK;
}

// One letter of a word; the rest of it is its value, or more letters.
static tern_status read_letter(tern_script_words *words, tern_script_word *out)
{
    const char name[] = {'-', *words->letters++, 0};
    const char *rest = words->letters;
    out->option =
        name[1] == 'h' ? TERN_SCRIPT_WORD_HELP : tern_option_find_letter(words->list, name[1]);
    if (!*rest || takes_value(words, out->option))
        words->letters = NULL;
    if (out->option == -1)
        return refuse_unknown(words, words->argv[words->at - 1]);
    if (!takes_value(words, out->option))
        return TERN_OK;
    out->value = rest;
    return *rest ? TERN_OK : take_value(words, name, out);
}

static tern_status read_argument(tern_script_words *words, const char *word, tern_script_word *out)
{
    int skip = words->arguments++;
    for (int i = 0; i < words->list->count; i++) {
        if (!words->list->at[i]->argument || skip-- > 0)
            continue;
        *out = (tern_script_word){.option = i, .value = word};
        return TERN_OK;
    }
    return tern_error_raise(TERN_ERR_ARG, "%s: %s: %s; --help says what is taken", words->program,
                            tern_label_of(word).text,
                            words->arguments == 1 ? "no option, and nothing else is taken"
                                                  : "one argument too many");
}

tern_status tern_script_next(tern_script_words *words, tern_script_word *out, bool *more)
{
    *out = (tern_script_word){.option = -1};
    *more = words->letters || words->at < words->argc;
    if (words->letters)
        return read_letter(words, out);
    if (!*more)
        return TERN_OK;
    const char *word = words->argv[words->at++];
    if (!words->arguments_only && strcmp(word, "--") == 0) {
        words->arguments_only = true;
        return tern_script_next(words, out, more);
    }
    if (words->arguments_only || word[0] != '-' || !word[1])
        return read_argument(words, word, out);
    if (word[1] == '-')
        return read_name(words, word, out);
    words->letters = word + 1;
    return read_letter(words, out);
}
