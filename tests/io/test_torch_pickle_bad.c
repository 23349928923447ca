// SPDX-License-Identifier: Apache-2.0
// Pickles of PyTorch's files that are refused, and what the sentence says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"
#include "bad_file.h"
#include "torch_bytes.h"

static void assert_rows_refused(const row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        byte_string zip = archive_of_pickle(rows[i].pickle, rows[i].count);
        assert_file_refused(rows[i].name, zip.at, zip.count, TERN_ERR_FORMAT, rows[i].words);
        free_bytes(&zip);
    }
}

#define ASSERT_ROWS_REFUSED(rows) assert_rows_refused(rows, sizeof(rows) / sizeof *(rows))

// Otherwise rows could be refused for what they share.
static void the_file_that_rows_change_is_read(void **state)
{
    (void)state;
    byte_string zip = archive_of_pickle(DICT(TENSOR), sizeof(DICT(TENSOR)) - 1);
    tern_state *read = tern_state_read(write_file("good", zip.at, zip.count));
    assert_non_null(read);
    assert_memory_equal(tern_data(tern_state_tensor(read, "a")), elements, sizeof elements);
    tern_state_free(read);
    free_bytes(&zip);
}

// ---- the machine --------------------------------------------------------------------------------

static const row machine[] = {
    ROW("nothing", "", "ends at byte 0 without STOP"),
    ROW("no_stop", PROTO "}", "ends at byte 3 without STOP"),
    ROW("no_protocol", "}.", "begins with the byte 0x7d"),
    ROW("protocol_4", "\x80\x04\x95\x01\0\0\0\0\0\0\0}.",
        "is of protocol 4, which torch.load does not"),
    ROW("protocol_5", "\x80\x05}.", "is of protocol 5"),
    ROW("protocol_twice", PROTO PROTO "}.", "the opcode 0x80 at byte 2"),
    ROW("after_stop", PROTO "}.}", "goes on for 1 bytes after its end"),
    ROW("two_values", PROTO "}}.", "stops with 2 values and 0 marks"),
    ROW("no_value", PROTO ".", "stops with 0 values"),
    ROW("open_mark", PROTO "}(.", "stops with 1 values and 1 marks"),
    ROW("os_system", PROTO "cos\nsystem\n" TEXT("\4", "true") "\x85R.",
        "data.pkl uses os.system: only state dicts can be read; save net.state_dict()"),
    ROW("eval", PROTO "cbuiltins\neval\n" TEXT("\1", "1") "\x85R.", "uses builtins.eval"),
    ROW("a_module", PROTO "ctorch.nn.modules.linear\nLinear\n)R.",
        "uses torch.nn.modules.linear.Linear: only state dicts"),
    ROW("a_name_without_end", PROTO "ccollections", "without STOP"),
    ROW("a_name_with_a_space", PROTO "cos system\n\n.", "a name with the byte 0x20"),
    ROW("a_name_with_a_zero", PROTO "cos\0x\nsystem\n.", "a name with the byte 0x00"),
    ROW("calls_none", PROTO "N)R.", "a call of other arguments"),
    ROW("calls_a_dtype", PROTO "ctorch\nfloat32\n)R.", "a storage or dtype of other arguments"),
    ROW("calls_with_a_list", PROTO "ccollections\nOrderedDict\n]R.", "a call of other arguments"),
    ROW("takes_what_was_not_stored", PROTO "h\0.", "takes value 0, which it did not store"),
    ROW("takes_far_away", PROTO "j\xff\xff\xff\xff.", "takes value 4294967295"),
    ROW("stores_at_2_to_32", PROTO "}r\xff\xff\xff\xff.", "stores value 4294967295, beyond"),
    ROW("stores_at_2_to_20", PROTO "}r\0\0\x10\0.", "stores value 1048576, beyond"),
    ROW("stores_at_the_last", PROTO "}r\xff\xff\x0f\0.", "asks for more memory than"),
    ROW("stores_nothing", PROTO "q\0.", "BINPUT at byte 4 with too little on the stack"),
    ROW("tuple_without_mark", PROTO "Nt.", "TUPLE at byte 4 without a mark"),
    ROW("tuple_over_a_mark", PROTO "N(N\x86.", "TUPLE at byte 6 with too little"),
    ROW("appends_without_mark", PROTO "]Ne.", "APPENDS at byte 5 without a mark"),
    ROW("appends_to_nothing", PROTO "(Ne.", "too little on the stack"),
    ROW("appends_to_a_dictionary", PROTO "}Na.", "appends to what is no list"),
    ROW("appends_to_none", PROTO "NNa.", "appends to what is no list"),
    ROW("sets_items_of_a_list", PROTO "](NNu.", "sets items of what is no dictionary"),
    ROW("a_key_alone", PROTO "}(Nu.", "sets a key without a value"),
    ROW("reduces_nothing", PROTO "R.", "REDUCE at byte 3 with too little"),
    ROW("builds_nothing", PROTO "}b.", "BUILD at byte 4 with too little"),
    ROW("identifies_nothing", PROTO "Q.", "BINPERSID at byte 3 with too little"),
    ROW("long_cut", PROTO "\x8a\xff.", "ends at byte 5 without STOP"),
    ROW("long_of_9_bytes", PROTO "\x8a\x09\1\1\1\1\1\1\1\1\1.", "an integer of 9 bytes"),
    ROW("text_beyond_the_end",
        PROTO "X\xff\xff\xff\xff"
              "abc.",
        "a text of 4294967295 bytes"),
    ROW("text_cut", PROTO TEXT("\5", "abc."), "a text of 5 bytes, more than 4"),
};

static void each_bad_pickle_is_refused_with_its_reason(void **state)
{
    (void)state;
    ASSERT_ROWS_REFUSED(machine);
}

static void each_opcode_that_state_dicts_do_without_is_refused(void **state)
{
    (void)state;
    const char known[] = "()tNKMJGXUBCcqrhj]}aesuQRb.\x81\x85\x86\x87\x88\x89\x8a\x8f";
    int count = 0;
    for (int opcode = 0; opcode < 256; opcode++) {
        if (opcode && strchr(known, opcode))
            continue;
        char words[64], pickle[] = PROTO "?}.";
        pickle[2] = (char)opcode;
        snprintf(words, sizeof words, "the opcode 0x%02x at byte 2", opcode);
        const row one[] = {{"an opcode", pickle, sizeof pickle - 1, words}};
        ASSERT_ROWS_REFUSED(one);
        count++;
    }
    assert_int_equal(count, 256 - 35);
}

// ---- values -------------------------------------------------------------------------------------

static const row values[] = {
    ROW("same_key", PROTO "}(" TEXT("\1", "a") "N" TEXT("\1", "a") "K\1u.", "a key twice"),
    ROW("same_key_apart", PROTO "}" TEXT("\1", "a") "Ns" TEXT("\1", "a") "K\1s.", "a key twice"),
    ROW("same_number", PROTO "}(K\1NM\1\0Nu.", "a key twice"),
    ROW("number_and_digit", PROTO "}(K\1K\1" TEXT("\1", "1") "K\1u.", "has \"1\" twice"),
    ROW("same_path",
        PROTO "}(" TEXT("\3", "a.b") "K\1" TEXT("\1", "a") "}" TEXT("\1", "b") "K\1su.",
        "has \"a.b\" twice"),
    ROW("float_key", PROTO "}G\0\0\0\0\0\0\0\0K\1s.", "has a key that is no text and no integer"),
    ROW("tuple_key", PROTO "})K\1s.", "has a key that is no text and no integer"),
    ROW("none_key", PROTO "}NK\1s.", "has a key that is no text and no integer"),
    ROW("empty_key", PROTO "}" TEXT("\0", "") "K\1s.", "a name of 0 bytes"),
    ROW("newline_in_key", PROTO "}" TEXT("\1", "\n") "K\1s.", "control character 0x0a"),
    ROW("zero_in_key", PROTO "}" TEXT("\3", "a\0b") "K\1s.", "a text with the byte 0"),
    ROW("zero_in_text", DICT(TEXT("\3", "a\0b")),
        "is a text with the byte 0, which tern cannot load"),
    ROW("key_not_utf8", PROTO "}" TEXT("\1", "\xff") "K\1s.", "a text that is not UTF-8"),
    ROW("text_not_utf8", DICT(TEXT("\2", "\xc0\x80")), "is a text that is not UTF-8, which"),
    ROW("surrogate", DICT(TEXT("\3", "\xed\xa0\x80")), "is a text that is not UTF-8, which"),
    ROW("a_list_in_itself", PROTO "]q\0h\0a.", "as a part of itself"),
    ROW("a_dictionary_in_itself", PROTO "}q\0" TEXT("\1", "a") "](h\0es.", "has \"a.0\" as a part"),
    ROW("a_class", DICT("ccollections\nOrderedDict\n"), "is no value but a class, which"),
    ROW("a_storage", DICT(FLOATS), "is a storage and no tensor, which"),
    ROW("ordered_of_a_number", DICT("ccollections\nOrderedDict\nK\1\x85R"), "an OrderedDict of"),
    ROW("ordered_of_triples",
        DICT("ccollections\nOrderedDict\n]NNN\x87"
             "a\x85R"),
        "an OrderedDict of"),
    ROW("counter_of_a_list", DICT("ccollections\nCounter\n]\x85R"), "a Counter of other"),
    ROW("size_of_a_list", DICT("ctorch\nSize\n]\x85R"), "a Size of other arguments"),
    ROW("device_of_a_number", DICT("ctorch\ndevice\nK\1\x85R"), "a device of other arguments"),
    ROW("device_of_minus_1", DICT("ctorch\ndevice\n" CPU "J\xff\xff\xff\xff\x86R"), "a device of"),
    ROW("parameter_of_none", DICT("ctorch._utils\n_rebuild_parameter\nN\x89" ORDERED "\x87R"),
        "a Parameter of other arguments"),
    ROW("attributes_of_a_dictionary", PROTO "}}b.", "attributes of what is no state dict"),
    ROW("attributes_of_a_list", PROTO "]}b.", "attributes of what is no state dict"),
    ROW("bytes_beyond_latin1",
        DICT("c_codecs\nencode\n" TEXT("\3", "\xe2\x82\xac") TEXT("\6", "latin1") "\x86R"),
        "bytes of other arguments"),
    ROW("bytes_cut_in_a_character",
        DICT("c_codecs\nencode\n" TEXT("\1", "\xc3") TEXT("\6", "latin1") "\x86R"),
        "bytes of other arguments"),
    ROW("bytes_of_another_encoding",
        DICT("c_codecs\nencode\n" TEXT("\1", "x") TEXT("\5", "rot13") "\x86R"),
        "bytes of other arguments"),
    ROW("set_of_a_number", DICT("c__builtin__\nset\nK\1\x85R"), "a set of other arguments"),
    ROW("layout_of_a_number", DICT("ctorch.serialization\n_get_layout\nK\1\x85R"), "a layout of"),
    ROW("rebuilds_by_a_dictionary",
        DICT("ctorch._tensor\n_rebuild_from_type_v2\n(ccollections\nOrderedDict\nctorch\nTensor\n)}"
             "tR"),
        "a tensor of other arguments"),
    ROW("a_complex_number", DICT("c__builtin__\ncomplex\nK\1K\2\x86R"),
        "is a complex number, which"),
    ROW("an_object", DICT("ccollections\ndeque\n]\x85R"),
        "needs Python's collections.deque, which"),
    ROW("posix_within", DICT("cposix\nsystem\n" TEXT("\4", "true") "\x85R"), "uses posix.system"),
    ROW("a_long_integer", DICT("\x8a\x09\1\1\1\1\1\1\1\1\1"), "is an integer of 9 bytes, which"),
};

static void each_bad_value_is_refused_with_its_reason(void **state)
{
    (void)state;
    ASSERT_ROWS_REFUSED(values);
}

// ---- storages and tensors -----------------------------------------------------------------------

#define OFFSET                       "K\0"
#define SIZE                         "K\6\x85"
#define STRIDE                       "K\1\x85"
#define MINUS                        "J\xff\xff\xff\xff"
#define HUGE_                        "\x8a\x08\0\0\0\0\0\0\0\x40" // 2^62
#define STORED(id)                   DICT(TENSOR_OF(id, OFFSET, SIZE, STRIDE))
#define SHAPED(offset, size, stride) DICT(TENSOR_OF(FLOATS, offset, size, stride))
#define TWO(first, second)                                                                         \
    PROTO "}(" TEXT("\1", "a") TENSOR_OF(first, OFFSET, SIZE, STRIDE) TEXT("\1", "b")              \
        TENSOR_OF(second, OFFSET, SIZE, STRIDE) "u."
#define CALL(name, arguments) DICT("ctorch._utils\n" name "\n(" arguments "tR")
#define UNTYPED               OF_CLASS("torch.storage", "UntypedStorage") KEY("0") CPU "K\x18tQ"

static const row tensors[] = {
    ROW("id_of_a_text", PROTO "}" TEXT("\1", "a") "Qs.", "a persistent id that is no tuple of 5"),
    ROW("id_of_4", DICT(OF_CLASS("torch", "FloatStorage") KEY("0") CPU "tQ"),
        "a persistent id that is no tuple of 5"),
    ROW("id_of_another",
        DICT("(" TEXT("\6", "module") "ctorch\nFloatStorage\n" KEY("0") CPU "K\6tQ"),
        "a persistent id that is no storage"),
    ROW("id_of_a_dtype", STORED(ID("float32", KEY("0"), CPU, "K\6")), "id that is no storage"),
    ROW("key_is_a_path", STORED(ID("FloatStorage", TEXT("\x09", "../data/0"), CPU, "K\6")),
        "a storage whose key is no number"),
    ROW("key_begins_with_0", STORED(ID("FloatStorage", TEXT("\2", "00"), CPU, "K\6")),
        "a storage whose key is no number"),
    ROW("key_is_empty", STORED(ID("FloatStorage", TEXT("\0", ""), CPU, "K\6")), "key is no number"),
    ROW("key_is_an_integer", STORED(ID("FloatStorage", "K\0", CPU, "K\6")), "key is no number"),
    ROW("key_is_long", STORED(ID("FloatStorage", TEXT("\x14", "18446744073709551617"), CPU, "K\6")),
        "a storage whose key is no number"),
    ROW("location_is_none", STORED(ID("FloatStorage", KEY("0"), "N", "K\6")),
        "storage 0 with a location that is no text"),
    ROW("location_is_empty", STORED(ID("FloatStorage", KEY("0"), TEXT("\0", ""), "K\6")),
        "storage 0 at a location of 0 bytes"),
    ROW("numel_is_negative", STORED(ID("FloatStorage", KEY("0"), CPU, MINUS)),
        "a number of elements that cannot be"),
    ROW("numel_is_huge", STORED(ID("FloatStorage", KEY("0"), CPU, HUGE_)),
        "a number of elements that cannot be"),
    ROW("numel_is_a_bool", STORED(ID("FloatStorage", KEY("0"), CPU, "\x88")), "that cannot be"),
    ROW("too_few_bytes", STORED(ID("FloatStorage", KEY("0"), CPU, "K\7")),
        "has 24 bytes in \"t/data/0\", and its pickle says 28"),
    ROW("too_many_bytes",
        DICT(TENSOR_OF(ID("FloatStorage", KEY("0"), CPU, "K\5"), OFFSET, "K\5\x85", STRIDE)),
        "has 24 bytes in \"t/data/0\", and its pickle says 20"),
    ROW("no_such_storage", STORED(ID("FloatStorage", KEY("1"), CPU, "K\6")),
        "has no entry \"t/data/1\", which its pickle names"),
    ROW("two_classes", TWO(FLOATS, ID("IntStorage", KEY("0"), CPU, "K\6")),
        "names storage 0 in two ways"),
    ROW("two_numels", TWO(FLOATS, ID("FloatStorage", KEY("0"), CPU, "K\7")), "in two ways"),
    ROW("two_locations", TWO(FLOATS, ID("FloatStorage", KEY("0"), TEXT("\4", "cuda"), "K\6")),
        "names storage 0 in two ways"),
    ROW("no_storage", DICT(TENSOR_OF("N", OFFSET, SIZE, STRIDE)), "a tensor without a storage"),
    ROW("offset_negative", SHAPED(MINUS, SIZE, STRIDE), "whose offset is not 0 or more"),
    ROW("size_negative", SHAPED(OFFSET, MINUS "\x85", STRIDE), "whose sizes and strides are not"),
    ROW("stride_negative", SHAPED(OFFSET, SIZE, MINUS "\x85"), "whose sizes and strides are not"),
    ROW("size_is_a_list",
        SHAPED(OFFSET,
               "]K\6"
               "a",
               STRIDE),
        "whose sizes and strides are not"),
    ROW("size_has_a_float", SHAPED(OFFSET, "G\0\0\0\0\0\0\0\0\x85", STRIDE), "sizes and strides"),
    ROW("ranks_differ", SHAPED(OFFSET, SIZE, ")"), "whose sizes and strides are not"),
    ROW("rank_9", SHAPED(OFFSET, "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t", "(K\1K\1K\1K\1K\1K\1K\1K\1K\1t"),
        "is a tensor of more than 8 dimensions, which tern cannot load"),
    ROW("one_too_far", SHAPED("K\1", SIZE, STRIDE), "goes beyond its storage 0"),
    ROW("stride_too_far", SHAPED(OFFSET, "K\3\x85", "K\3\x85"), "goes beyond its storage 0"),
    ROW("offset_overflows", SHAPED(HUGE_, "K\3\x85", HUGE_ "\x85"), "goes beyond its storage"),
    ROW("stride_overflows", SHAPED(OFFSET, HUGE_ "\x85", HUGE_ "\x85"), "goes beyond its storage"),
    ROW("numel_overflows", SHAPED(OFFSET, HUGE_ HUGE_ "\x86", "K\0K\0\x86"), "beyond its storage"),
    ROW("requires_grad_is_none", CALL("_rebuild_tensor_v2", FLOATS OFFSET SIZE STRIDE "N" ORDERED),
        "is no bool"),
    ROW("hooks", CALL("_rebuild_tensor_v2", FLOATS OFFSET SIZE STRIDE "\x89" ORDERED "K\1Ns"),
        "a tensor with hooks"),
    ROW("five_arguments", CALL("_rebuild_tensor_v2", FLOATS OFFSET SIZE STRIDE "\x89"),
        "a tensor of 5 arguments"),
    ROW("nine_arguments",
        CALL("_rebuild_tensor_v2", FLOATS OFFSET SIZE STRIDE "\x89" ORDERED "NNN"),
        "a tensor of 9 arguments"),
    ROW("negated",
        CALL("_rebuild_tensor_v2",
             FLOATS OFFSET SIZE STRIDE "\x89" ORDERED "}" TEXT("\3", "neg") "\x88s"),
        "the negative or the conjugate"),
    ROW("untyped", CALL("_rebuild_tensor_v2", UNTYPED OFFSET SIZE STRIDE "\x89" ORDERED),
        "a tensor of no dtype, or of two"),
    ROW("typed_twice",
        CALL("_rebuild_tensor_v3", FLOATS OFFSET SIZE STRIDE "\x89" ORDERED "ctorch\nuint16\n"),
        "a tensor of no dtype, or of two"),
    ROW("typed_by_none", CALL("_rebuild_tensor_v3", UNTYPED OFFSET SIZE STRIDE "\x89" ORDERED "N"),
        "a tensor of no dtype, or of two"),
    ROW("untyped_too_far",
        CALL("_rebuild_tensor_v3",
             UNTYPED OFFSET "K\x0d\x85" STRIDE "\x89" ORDERED "ctorch\nuint16\n"),
        "goes beyond its storage 0"),
};

static void each_bad_tensor_is_refused_with_its_reason(void **state)
{
    (void)state;
    ASSERT_ROWS_REFUSED(tensors);
}

// ---- bombs --------------------------------------------------------------------------------------

static void repeat(byte_string *to, const char *piece, size_t length, int count)
{
    to->at = realloc(to->at, to->count + length * (size_t)count + 1);
    assert_non_null(to->at);
    for (int i = 0; i < count; i++, to->count += length)
        memcpy(to->at + to->count, piece, length);
}

// A pickle of pieces, each so many times.
static void assert_repeated_refused(const char *name, const char *words, const char *const *pieces,
                                    const int *counts)
{
    byte_string pickle = {NULL, 0};
    add_bytes(&pickle, PROTO, 2);
    for (int i = 0; pieces[i]; i++)
        repeat(&pickle, pieces[i], strlen(pieces[i]), counts[i]);
    add_bytes(&pickle, ".", 1);
    byte_string zip = archive_of_pickle(pickle.at, pickle.count);
    assert_file_refused(name, zip.at, zip.count, TERN_ERR_FORMAT, words);
    free_bytes(&zip);
    free_bytes(&pickle);
}

#define PIECES(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define COUNTS(...)                                                                                \
    (const int[])                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void bombs_are_refused_before_they_take_memory(void **state)
{
    (void)state;
    assert_repeated_refused("marks", "more than 256 marks", PIECES("("), COUNTS(1000000));
    assert_repeated_refused("lists", "asks for more memory than", PIECES("]"), COUNTS(1000000));
    assert_repeated_refused("nones", "more than 4096 values on the stack", PIECES("N"),
                            COUNTS(5000));
    assert_repeated_refused("nested", "more than 64 dictionaries, lists and tuples",
                            PIECES("]", "a"), COUNTS(65, 64));
    assert_repeated_refused("nested_deep", "asks for more memory than", PIECES("]", "a"),
                            COUNTS(4000, 3999));
    assert_repeated_refused("empty_lists", "asks for more memory than", PIECES("](", "]", "e"),
                            COUNTS(1, 4000, 1));
    assert_repeated_refused("many_lists", "asks for more memory than",
                            PIECES("]", "(]]]]]]]]]]]]]]]]e"), COUNTS(1, 60000));
    assert_repeated_refused("doubled", "repeats its values more often than it has bytes",
                            PIECES("K\1q\1", "h\1\x86q\1"), COUNTS(1, 40));
    assert_repeated_refused("empties_doubled", "repeats its values more often",
                            PIECES("]q\1", "h\1\x86q\1"), COUNTS(1, 40));
}

// 1 MiB of name, and 1000 bytes that each of many values has in its name.
static void long_names_are_refused_before_they_take_memory(void **state)
{
    (void)state;
    byte_string pickle = {NULL, 0};
    add_bytes(&pickle, PROTO "}X\0\0\x10\0", 8);
    repeat(&pickle, "n", 1, 1 << 20);
    add_bytes(&pickle, "K\1s.", 4);
    byte_string zip = archive_of_pickle(pickle.at, pickle.count);
    assert_file_refused("1 MiB", zip.at, zip.count, TERN_ERR_FORMAT, "a name of more than 1024");
    free_bytes(&zip);
    pickle.count = 0;
    add_bytes(&pickle, PROTO "}X\xe8\x03\0\0", 8);
    repeat(&pickle, "n", 1, 1000);
    add_bytes(&pickle, "](", 2);
    repeat(&pickle, "N\x88", 2, 2000);
    add_bytes(&pickle, "es.", 3);
    zip = archive_of_pickle(pickle.at, pickle.count);
    assert_file_refused("names", zip.at, zip.count, TERN_ERR_FORMAT, "names are too long for its");
    free_bytes(&zip);
    free_bytes(&pickle);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(the_file_that_rows_change_is_read),
        DATA_TEST(each_bad_pickle_is_refused_with_its_reason),
        DATA_TEST(each_opcode_that_state_dicts_do_without_is_refused),
        DATA_TEST(each_bad_value_is_refused_with_its_reason),
        DATA_TEST(each_bad_tensor_is_refused_with_its_reason),
        DATA_TEST(bombs_are_refused_before_they_take_memory),
        DATA_TEST(long_names_are_refused_before_they_take_memory),
    };
    return cmocka_run_group_tests_name("torch_pickle_bad", tests, start_group, end_group);
}
