// SPDX-License-Identifier: Apache-2.0
// PyTorch's files that are refused for other reasons than their pickle, and changed ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"
#include "bad_file.h"
#include "torch_bytes.h"

// ---- archives -----------------------------------------------------------------------------------

#define GOOD                                                                                       \
    {                                                                                              \
        "t/data.pkl", DICT(TENSOR), sizeof(DICT(TENSOR)) - 1, 0                                    \
    }
#define DATA                                                                                       \
    {                                                                                              \
        "t/data/0", elements, sizeof elements, 0                                                   \
    }
#define VERSION                                                                                    \
    {                                                                                              \
        "t/version", "3\n", 2, 0                                                                   \
    }

static const struct {
    const char *name, *words;
    entry entries[5];
} archives[] = {
    {"no_version", "has no entry \"version\"", {GOOD, DATA}},
    {"version_of_12", "is of version \"12\n\"", {GOOD, DATA, {"t/version", "12\n", 3, 0}}},
    {"version_of_words", "is of version \"new\"", {GOOD, DATA, {"t/version", "new", 3, 0}}},
    {"version_long",
     "has 64 bytes of \"version\"",
     {GOOD,
      DATA,
      {"t/version", "0000000000000000000000000000000000000000000000000000000000000000", 64, 0}}},
    {"two_stems",
     "has the entry \"u/data/0\" outside of \"t/\"",
     {GOOD, {"u/data/0", elements, sizeof elements, 0}, VERSION}},
    {"no_storage", "has no entry \"t/data/0\"", {GOOD, VERSION}},
    // What torch.load does with each of these: "Unknown endianness type".
    {"byteorder",
     "the byteorder \"middle\"",
     {GOOD, DATA, VERSION, {"t/byteorder", "middle", 6, 0}}},
    {"byteorder_empty",
     "the byteorder \"\" of 0 bytes",
     {GOOD, DATA, VERSION, {"t/byteorder", "", 0, 0}}},
    {"byteorder_big_0",
     "the byteorder \"big\" of 4 bytes",
     {GOOD, DATA, VERSION, {"t/byteorder", "big\0", 4, 0}}},
    {"byteorder_little_0",
     "the byteorder \"little\" of 7 bytes",
     {GOOD, DATA, VERSION, {"t/byteorder", "little\0", 7, 0}}},
    {"byteorder_line",
     "of 7 bytes, not little or big",
     {GOOD, DATA, VERSION, {"t/byteorder", "little\n", 7, 0}}},
    {"byteorder_capitals", "LITTLE", {GOOD, DATA, VERSION, {"t/byteorder", "LITTLE", 6, 0}}},
    {"version_empty", "is of version \"\"", {GOOD, DATA, {"t/version", "", 0, 0}}},
    {"version_of_0", "is of version \"0", {GOOD, DATA, {"t/version", "0\n", 2, 0}}},
    {"version_of_11", "not 1 to 10", {GOOD, DATA, {"t/version", "11\n", 3, 0}}},
    {"spoilt_pickle",
     "data.pkl is damaged: its checksum is",
     {{"t/data.pkl", DICT(TENSOR), sizeof(DICT(TENSOR)) - 1, 1}, DATA, VERSION}},
    {"spoilt_storage", "checksum", {GOOD, {"t/data/0", elements, sizeof elements, 8}, VERSION}},
    {"a_script", "is a TorchScript program", {GOOD, DATA, VERSION, {"t/constants.pkl", "", 0, 0}}},
    {"code", "is a TorchScript program", {GOOD, DATA, VERSION, {"t/code/x.py", "", 0, 0}}},
};

static void each_bad_archive_is_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof archives / sizeof *archives; i++) {
        int count = 0;
        while (count < 5 && archives[i].entries[count].name)
            count++;
        byte_string zip = archive_of(archives[i].entries, count);
        char words[128]; // control characters are question marks in sentences
        snprintf(words, sizeof words, "%s", archives[i].words);
        for (char *at = words; *at; at++)
            *at = *at == '\n' ? '?' : *at;
        assert_file_refused(archives[i].name, zip.at, zip.count, TERN_ERR_FORMAT, words);
        free_bytes(&zip);
    }
}

// ---- before 1.6 ---------------------------------------------------------------------------------

#define OLD_BEGIN        PROTO "\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19." PROTO "M\xe9\x03." PROTO "}."
#define OLD_ID(view)     OF_CLASS("torch", "FloatStorage") KEY("7") CPU "K\1" view "tQ"
#define OLD_TENSOR(view) DICT(TENSOR_OF(OLD_ID(view), "K\0", "K\1\x85", "K\1\x85"))
#define OLD_KEYS         PROTO "]" KEY("7") "a."
#define OLD_DATA         "\1\0\0\0\0\0\0\0\0\0\x80\x3f" // 1.0f
#define OLD(keys, data)  OLD_BEGIN OLD_TENSOR("N") keys data

static const row old[] = {
    ROW("another_version", PROTO "\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19." PROTO "M\xea\x03.",
        "says another version than 1001"),
    ROW("facts_in_a_list",
        PROTO "\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19." PROTO "M\xe9\x03." PROTO "].",
        "the system's pickle is no dictionary"),
    ROW("a_view", OLD_BEGIN OLD_TENSOR(")") OLD_KEYS OLD_DATA, "storage 7 as a view of another"),
    ROW("id_of_5", OLD_BEGIN DICT(TENSOR) OLD_KEYS OLD_DATA, "no tuple of 6"),
    ROW("a_module", OLD_BEGIN PROTO "ctorch.nn.modules.linear\nLinear\n.",
        "its pickle uses torch.nn.modules.linear.Linear: only state dicts"),
    ROW("keys_in_a_dictionary", OLD(PROTO "}.", OLD_DATA), "the list of storages is no list"),
    ROW("no_keys", OLD(PROTO "].", ""), "has 0 keys of 1 storages"),
    ROW("another_key", OLD(PROTO "]" KEY("8") "a.", OLD_DATA), "\"8\", which is no tensor's"),
    ROW("a_key_of_words", OLD(PROTO "]" KEY("x") "a.", OLD_DATA), "the key \"x\", which is no"),
    ROW("a_key_of_a_number",
        OLD(PROTO "]K\7"
                  "a.",
            OLD_DATA),
        "a key that is no number"),
    ROW("the_key_twice", OLD(PROTO "](" KEY("7") KEY("7") "e.", OLD_DATA OLD_DATA), "there twice"),
    ROW("two_elements", OLD(OLD_KEYS, "\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        "has 2 elements of storage 7, not as many"),
    ROW("no_elements", OLD(OLD_KEYS, ""), "ends at byte"),
    ROW("half_an_element", OLD(OLD_KEYS, "\1\0\0\0\0\0\0\0\0\0"), "ends inside of storage 7"),
    ROW("more", OLD(OLD_KEYS, OLD_DATA "x"), "goes on for 1 bytes after its last storage"),
};

static void each_bad_file_from_before_1_6_is_refused_with_its_reason(void **state)
{
    (void)state;
    tern_state *read = tern_state_read(
        write_file("good", OLD(OLD_KEYS, OLD_DATA), sizeof(OLD(OLD_KEYS, OLD_DATA)) - 1));
    assert_non_null(read);
    assert_true(*(float *)tern_data(tern_state_tensor(read, "a")) == 1);
    tern_state_free(read);
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        assert_file_refused(old[i].name, old[i].pickle, old[i].count, TERN_ERR_FORMAT,
                            old[i].words);
}

// ---- other files --------------------------------------------------------------------------------

static void pickles_that_torch_did_not_write_are_refused(void **state)
{
    (void)state;
    static const row others[] = {
        ROW("protocol_2", PROTO "}.", "is a pickle, but none that torch.save writes"),
        ROW("protocol_4", "\x80\x04\x95\x02\0\0\0\0\0\0\0}\x94.", "is a pickle, but none that"),
    };
    for (size_t i = 0; i < 2; i++)
        assert_file_refused(others[i].name, others[i].pickle, others[i].count, TERN_ERR_FORMAT,
                            others[i].words);
    char tar[512] = "sys_info";
    memcpy(tar + 257, "ustar", 5);
    assert_file_refused("tar", tar, sizeof tar, TERN_ERR_FORMAT, "is a tar archive");
}

static byte_string golden(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/torch_%s", TERN_IO_DATA, name);
    return read_bytes(path);
}

static void a_file_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    byte_string whole = golden("legacy.pt");
    for (size_t count = 0; count < whole.count; count++)
        assert_file_refused("cut", whole.at, count, TERN_ERR_FORMAT, "");
    free_bytes(&whole);
    whole = golden("adam.pt");
    for (size_t count = 0; count < whole.count; count += 61)
        assert_file_refused("cut", whole.at, count, TERN_ERR_FORMAT, "");
    free_bytes(&whole);
}

// The pickle of an archive that torch.save wrote: its first entry, before the descriptor.
static byte_string pickle_in(const byte_string *file)
{
    size_t begin = 0, end = 0;
    for (size_t i = 0; !begin && i + 1 < file->count; i++)
        if (file->at[i] == 0x80 && file->at[i + 1] == 2)
            begin = i;
    for (size_t i = begin; !end && i + 4 < file->count; i++)
        if (memcmp(file->at + i, ".PK\7\10", 5) == 0)
            end = i + 1;
    assert_true(end > begin);
    byte_string pickle = {NULL, 0};
    add_bytes(&pickle, file->at + begin, end - begin);
    return pickle;
}

// Whatever a byte becomes, there is a state or one sentence, and no more memory than allowed.
static void a_pickle_with_any_byte_changed_is_read_or_refused(void **state)
{
    (void)state;
    static const unsigned char flips[] = {1, 2, 0x10, 0x80, 0xff, 'R' ^ 'h'};
    byte_string file = golden("checkpoint.pt"), pickle = pickle_in(&file);
    int refused = 0;
    for (size_t i = 0; i < pickle.count * sizeof flips; i++) {
        const size_t at = i / sizeof flips;
        pickle.at[at] ^= flips[i % sizeof flips];
        byte_string zip = archive_of_pickle(pickle.at, pickle.count);
        const char *path = write_file("changed", zip.at, zip.count);
        (void)tern_memory_trim();
        const int64_t before = memory.bytes;
        memory.peak = before;
        FILE *list = fopen("/dev/null", "w");
        if (tern_state_list(path, list)) {
            refused++;
            assert_int_equal(tern_error_code(), TERN_ERR_FORMAT);
            assert_true(memory.peak - before <= memory_for(zip.count));
            tern_error_clear();
        }
        fclose(list);
        free_bytes(&zip);
        pickle.at[at] ^= flips[i % sizeof flips];
    }
    assert_true(refused > 0);
    free_bytes(&pickle);
    free_bytes(&file);
}

static void assert_read_without_memory(const char *name)
{
    byte_string file = golden(name);
    const char *path = write_file("whole", file.at, file.count);
    free_bytes(&file);
    tern_state *read = NULL;
    for (int64_t n = 1; !read; n++) {
        assert_true(n < 10000);
        fail_nth_allocation(n);
        read = tern_state_read(path);
        const bool failed = memory.failed > 0;
        fail_nth_allocation(0);
        if (read)
            break;
        assert_true(failed);
        assert_int_equal(tern_error_code(), TERN_ERR_NOMEM);
        tern_error_clear();
    }
    tern_state_free(read);
}

static void a_read_that_finds_no_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_read_without_memory("shapes.pt");
    assert_read_without_memory("legacy.pt");
    assert_read_without_memory("deflated.pt");
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_bad_archive_is_refused_with_its_reason),
        DATA_TEST(each_bad_file_from_before_1_6_is_refused_with_its_reason),
        DATA_TEST(pickles_that_torch_did_not_write_are_refused),
        DATA_TEST(a_file_that_is_cut_anywhere_is_refused),
        DATA_TEST(a_pickle_with_any_byte_changed_is_read_or_refused),
        DATA_TEST(a_read_that_finds_no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests_name("torch_bad", tests, start_group, end_group);
}
