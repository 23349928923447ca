// SPDX-License-Identifier: Apache-2.0
// Safetensors files that are refused, and those at the edge that are read. What the format's own
// library says of each is in its tests and its page; where this reader is stricter, it is said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <tern/tern.h>

#include "data/data_fixture.h"
#include "bad_file.h"
#include "safetensors_bytes.h"

#define T(name, dtype, shape, offsets)                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define F32 T("a", "F32", "[2]", "[0,8]")

typedef struct row {
    const char *name, *header;
    size_t elements; // bytes behind the header
    const char *words;
} row;

static const row refused[] = {
    {"not_json", "hello, world", 0, "is no safetensors"},
    {"leading_space", " {}", 0, "does not begin with {"},
    {"array", "[]", 0, "is no safetensors"},
    {"one_byte", "{", 0, "shorter than {}"},
    {"half_an_object", "{ ", 0, "is due, not the end"},
    {"trailing_comma", "{" F32 ",}", 8, "'\"' is due, not '}'"},
    {"two_objects", "{" F32 "}{}", 8, "nothing is due, not '{'"},
    {"number_for_a_tensor", "{\"a\":1}", 0, "'{' is due, not '1'"},
    {"nested_deep", "{\"a\":{\"dtype\":{\"b\":[[[[]]]]}}}", 0, "'\"' is due, not '{'"},
    {"cut_in_a_string", "{\"a", 0, "ends within a string"},
    {"cut_in_an_escape", "{\"a\\", 0, "no such escape"},
    {"cut_in_a_code", "{\"a\\u00", 0, "four hexadecimal digits"},
    {"unknown_escape", "{\"\\x61\":1}", 0, "no such escape"},
    {"half_a_surrogate", "{\"\\ud800a\":1}", 0, "half of a surrogate pair"},
    {"surrogate_and_letter", "{\"\\ud800\\u0061\":1}", 0, "half of a surrogate pair"},
    {"low_surrogate", "{\"\\udc00\":1}", 0, "half of a surrogate pair"},
    {"character_0", "{\"a\\u0000b\":1}", 0, "the character 0"},
    {"newline_in_a_string", "{\"a\nb\":1}", 0, "a control character in a string"},
    {"not_utf8", "{\"\xff\":1}", 0, "is not UTF-8"},
    {"overlong_utf8", "{\"\xc0\xaf\":1}", 0, "is not UTF-8"},
    {"surrogate_in_utf8", "{\"\xed\xa0\x80\":1}", 0, "is not UTF-8"},
    {"cut_utf8", "{\"\xe2\x82\":1}", 0, "is not UTF-8"},
    {"above_unicode", "{\"\xf4\x90\x80\x80\":1}", 0, "is not UTF-8"},
    {"same_name", "{" F32 "," T("a", "F32", "[2]", "[8,16]") "}", 16, "has \"a\" twice"},
    {"same_name_escaped", "{" F32 "," T("\\u0061", "F32", "[2]", "[8,16]") "}", 16, "\"a\" twice"},
    {"field_twice",
     "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":"
     "[0,8]}}",
     8, "a field \"dtype\", unknown or twice"},
    {"offsets_twice", "{\"a\":{\"data_offsets\":[0,8],\"dtype\":\"F32\",\"data_offsets\":[0,8]}}",
     8, "\"data_offsets\", unknown or twice"},
    {"shape_twice", "{\"a\":{\"shape\":[],\"shape\":[]}}", 8, "\"shape\", unknown or twice"},
    {"unknown_field", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
     "a field \"x\""}, // the library takes it
    {"no_dtype", "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "\"a\" has no dtype"},
    {"no_shape", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, "\"a\" has no shape"},
    {"no_offsets", "{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "has no data_offsets"},
    {"no_field", "{\"a\":{}}", 0, "\"a\" has no dtype"},
    {"one_offset", "{" T("a", "F32", "[2]", "[8]") "}", 8, "',' is due, not ']'"},
    {"three_offsets", "{" T("a", "F32", "[2]", "[0,8,8]") "}", 8, "']' is due, not ','"},
    {"no_offset", "{" T("a", "F32", "[2]", "[]") "}", 8, "an integer is due, not ']'"},
    {"negative_offset", "{" T("a", "F32", "[2]", "[-8,0]") "}", 8, "has the bytes -8 to 0"},
    {"offsets_turned", "{" T("a", "F32", "[0]", "[8,0]") "}", 8, "has the bytes 8 to 0"},
    {"fraction", "{" T("a", "F32", "[2]", "[0.0,8]") "}", 8, "not a fraction"},
    {"exponent", "{" T("a", "F32", "[2]", "[0,1e1]") "}", 8, "not a fraction"},
    {"leading_zero", "{" T("a", "F32", "[02]", "[0,8]") "}", 8, "an integer is due"},
    {"plus", "{" T("a", "F32", "[+2]", "[0,8]") "}", 8, "an integer is due, not '+'"},
    {"offset_of_64_bits", "{" T("a", "F32", "[2]", "[0,9223372036854775808]") "}", 8,
     "more than 64 bits"},
    {"offset_of_65_bits", "{" T("a", "F32", "[2]", "[0,18446744073709551616]") "}", 8,
     "more than 64 bits"},
    {"offset_past_the_end", "{" T("a", "F32", "[2]", "[0,16]") "}", 8, "0 to 16 of the 8"},
    {"negative_size", "{" T("a", "F32", "[-2]", "[0,8]") "}", 8, "a size below 0"},
    {"null_in_a_shape", "{" T("a", "F32", "[null]", "[0,8]") "}", 8, "an integer is due, not 'n'"},
    {"shape_in_a_shape", "{" T("a", "F32", "[[2]]", "[0,8]") "}", 8, "an integer is due, not '['"},
    {"too_many_bytes", "{" T("a", "F32", "[1]", "[0,8]") "}", 8, "8 bytes, which its shape"},
    {"too_few_bytes", "{" T("a", "F32", "[1000,1000]", "[0,4]") "}", 4, "4 bytes, which its shape"},
    {"product_is_0_in_64_bits", "{" T("a", "U8", "[4294967296,4294967296]", "[0,0]") "}", 0,
     "0 bytes, which its shape"},
    {"bytes_are_0_in_64_bits", "{" T("a", "F64", "[2305843009213693952]", "[0,0]") "}", 0,
     "0 bytes, which its shape"},
    {"eight_of_2_to_the_61", "{" T("a", "F64", "[1152921504606846975]", "[0,8]") "}", 8,
     "8 bytes, which its shape"},
    {"a_0_beside_large_sizes", "{" T("a", "U8", "[0,4611686018427387904,4]", "[0,0]") "}", 0,
     "0 bytes, which its shape"}, // the library takes it, PyTorch does not
    {"nine_dimensions", "{" T("a", "U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]") "}", 1,
     "more than 8 dimensions"}, // the library takes 70
    {"gap", "{" F32 "," T("b", "F32", "[1]", "[12,16]") "}", 16, "bytes between its tensors"},
    {"gap_at_the_start", "{" T("a", "F32", "[1]", "[4,8]") "}", 8, "bytes between its tensors"},
    {"overlap", "{" F32 "," T("b", "F32", "[2]", "[4,12]") "}", 12, "have the same bytes"},
    {"same_range", "{" F32 "," T("b", "F32", "[2]", "[0,8]") "}", 8, "have the same bytes"},
    {"empty_inside", "{" F32 "," T("b", "F32", "[0]", "[4,4]") "}", 8, "have the same bytes"},
    {"bytes_behind", "{" F32 "}", 9, "bytes behind its tensors"},
    {"bytes_without_tensors", "{}", 1, "bytes behind its tensors"},
    {"one_byte_short", "{" F32 "}", 7, "0 to 8 of the 7"},
    {"unknown_dtype", "{" T("a", "F33", "[2]", "[0,8]") "}", 8, "the unknown dtype \"F33\""},
    {"dtype_in_small", "{" T("a", "f32", "[2]", "[0,8]") "}", 8, "the unknown dtype \"f32\""},
    {"half_a_byte", "{" T("a", "F4", "[3]", "[0,1]") "}", 1, "1 bytes, which its shape"},
    {"bool_of_2", "{" T("a", "BOOL", "[3]", "[0,3]") "}", 3, "element 2 of \"a\""},
    {"empty_name", "{" T("", "F32", "[2]", "[0,8]") "}", 8, "a name of 0 bytes"},
    {"newline_in_a_name", "{" T("a\\nb", "F32", "[2]", "[0,8]") "}", 8,
     "the control character 0x0a"},
    {"format_in_a_name", "{" T("%n%s", "F32", "[2]", "[0,9]") "}", 9, "\"%n%s\" has 9 bytes"},
    {"metadata_twice", "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "there twice"},
    {"metadata_key_twice", "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0,
     "metadata have \"a\" twice"}, // the library takes the last
    {"metadata_number", "{\"__metadata__\":{\"a\":1}}", 0, "'\"' is due, not '1'"},
    {"metadata_null_value", "{\"__metadata__\":{\"a\":null}}", 0, "'\"' is due, not 'n'"},
    {"metadata_nested", "{\"__metadata__\":{\"a\":{}}}", 0, "'\"' is due, not '{'"},
    {"metadata_array", "{\"__metadata__\":[]}", 0, "'{' is due, not '['"},
    {"metadata_nul", "{\"__metadata__\":nul}", 0, "'{' is due, not 'n'"},
    {"a_later_key", "{\"__metadata__\":{\"tern.later\":\"1\"}}", 0, "lost its checksum"},
    {"a_state_alone", "{\"__metadata__\":{\"tern.state\":\"{}\"}," F32 "}", 8, "lost its checksum"},
    {"tied_alone", "{\"__metadata__\":{\"tern.tied\":\"{}\"}," F32 "}", 8, "lost its checksum"},
    {"sums_alone", "{\"__metadata__\":{\"tern.crc32c\":\"01234567\"}," F32 "}", 8,
     "lost its checksum"},
};

static void each_bad_header_is_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const row *r = &refused[i];
        file_bytes f = safetensors_bytes(r->header, strlen(r->header), r->elements);
        assert_file_refused(r->name, f.at, f.count, TERN_ERR_FORMAT, r->words);
        free(f.at);
    }
}

static void assert_length_refused(const char *name, uint64_t length, size_t nbytes,
                                  const char *words)
{
    unsigned char bytes[64] = {0};
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    bytes[8] = '{';
    bytes[9] = '}';
    assert_file_refused(name, bytes, nbytes, TERN_ERR_FORMAT, words);
}

static void a_length_that_cannot_be_is_refused(void **state)
{
    (void)state;
    assert_file_refused("empty", "", 0, TERN_ERR_FORMAT, "is empty");
    for (size_t nbytes = 1; nbytes < 8; nbytes++)
        assert_length_refused("short", 2, nbytes, "is no safetensors");
    assert_length_refused("2^64 - 1", UINT64_MAX, 64, "is no safetensors");
    assert_length_refused("2^64 - 8", UINT64_MAX - 7, 64, "is no safetensors");
    assert_length_refused("2^63", 1ull << 63, 64, "is no safetensors");
    assert_length_refused("over the limit", 100000001, 64, "more than the 100000000 bytes");
    assert_length_refused("the whole file", 64, 64, "ends within its header");
    assert_length_refused("one byte too long", 57, 64, "ends within its header");
    assert_length_refused("0", 0, 64, "shorter than {}");
    assert_length_refused("nothing behind it", 0, 8, "shorter than {}");
}

static void a_character_0_behind_the_header_is_refused(void **state)
{
    (void)state;
    file_bytes f = safetensors_bytes("{}\0", 3, 0);
    assert_file_refused("trailing 0", f.at, f.count, TERN_ERR_FORMAT, "nothing is due, not 0x00");
    free(f.at);
}

static void a_name_of_a_megabyte_is_refused(void **state)
{
    (void)state;
    enum { MEGABYTE = 1 << 20 };
    char *header = malloc(MEGABYTE + 200);
    strcpy(header, "{\"");
    memset(header + 2, 'n', MEGABYTE);
    strcpy(header + 2 + MEGABYTE, "\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}");
    file_bytes f = safetensors_bytes(header, strlen(header), 1);
    assert_file_refused("long name", f.at, f.count, TERN_ERR_FORMAT, "a name of 1048576 bytes");
    free(f.at);
    free(header);
}

// A million tensors and one too many bytes: refused within the memory that the file's size allows.
static void a_million_tensors_take_no_more_memory_than_allowed(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    char *header = malloc((size_t)COUNT * 80), *at = header;
    *at++ = '{';
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "\"%x\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[%d,%d]},", i, i,
                      i + 1);
    at[-1] = '}';
    file_bytes f = safetensors_bytes(header, (size_t)(at - header), COUNT + 1);
    assert_file_refused("a million", f.at, f.count, TERN_ERR_FORMAT, "bytes behind its tensors");
    free(f.at);
    free(header);
}

static void metadata_take_no_more_memory_than_allowed(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    char *header = malloc((size_t)COUNT * 16 + 100), *at = header;
    at += sprintf(at, "{\"__metadata__\":{");
    for (int i = 0; i < COUNT; i++)
        at += sprintf(at, "\"%x\":\"\",", i);
    at += sprintf(at - 1, "}}") - 1;
    file_bytes f = safetensors_bytes(header, (size_t)(at - header), 1);
    assert_file_refused("metadata", f.at, f.count, TERN_ERR_FORMAT, "bytes behind its tensors");
    free(f.at);
    free(header);
}

// ---- what is read -------------------------------------------------------------------------------

static const row taken[] = {
    {"nothing", "{}", 0, ""},
    {"spaces_behind", "{}      ", 0, ""},
    {"white_space_behind", "{} \n\r\t", 0, ""},
    {"white_space_inside",
     "{ \"a\" : { \"dtype\" : \"F32\" , \"shape\" : [ 2 ] , "
     "\"data_offsets\" : [ 0 , 8 ] } }",
     8, "a"},
    {"metadata_null", "{\"__metadata__\":null," F32 "}", 8, "a"},
    {"metadata_of_others", "{\"__metadata__\":{\"format\":\"pt\",\"a\":\"b\"}," F32 "}", 8, "a"},
    {"out_of_order", "{" T("b", "F32", "[1]", "[8,12]") "," F32 "}", 12, "b a"},
    {"empty_between",
     "{" F32 "," T("e", "F32", "[0]", "[8,8]") "," T("b", "U8", "[1]", "[8,9]") "}", 9, "a e b"},
    {"rank_0", "{" T("a", "I64", "[]", "[0,8]") "}", 8, "a"},
    {"path_as_a_name", "{" T("../a/b", "F32", "[2]", "[0,8]") "}", 8, "../a/b"},
    {"escapes_in_a_name", "{" T("\\u00e4\\ud83d\\ude00\\/\\\\", "F32", "[2]", "[0,8]") "}", 8,
     "\xc3\xa4\xf0\x9f\x98\x80/\\"},
    {"escapes_at_the_ends_of_lengths",
     "{" T("\\u007e\\u0080\\u07ff\\u0800\\uffff\\ud800\\udc00", "F32", "[2]", "[0,8]") "}", 8,
     "~\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80"},
    {"eight_dimensions", "{" T("a", "U8", "[1,1,1,1,1,1,1,1]", "[0,1]") "}", 1, "a"},
};

static void each_header_at_the_edge_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const row *r = &taken[i];
        file_bytes f = safetensors_bytes(r->header, strlen(r->header), r->elements);
        tern_state *read = tern_state_read(write_file("edge", f.at, f.count));
        if (!read)
            fail_msg("%s: %s", r->name, tern_error_message());
        char names[64] = "";
        for (int64_t n = 0; n < tern_state_count(read); n++)
            strcat(strcat(names, n ? " " : ""), tern_state_name_at(read, n));
        assert_string_equal(names, r->words);
        tern_state_free(read);
        free(f.at);
    }
}

static void each_dtype_that_tern_lacks_is_listed_but_not_loaded(void **state)
{
    (void)state;
    static const struct {
        const char *dtype;
        size_t nbytes; // of four
    } lacking[] = {{"F4", 2},      {"F6_E2M3", 3}, {"F6_E3M2", 3}, {"I8", 4},
                   {"F8_E5M2", 4}, {"F8_E4M3", 4}, {"F8_E8M0", 4}, {"I16", 8},
                   {"U16", 8},     {"U32", 16},    {"C64", 32},    {"U64", 32}};
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
        char header[200], listed[1000] = "";
        sprintf(header, "{\"a\":{\"dtype\":\"%s\",\"shape\":[4],\"data_offsets\":[0,%zu]}}",
                lacking[i].dtype, lacking[i].nbytes);
        file_bytes f = safetensors_bytes(header, strlen(header), lacking[i].nbytes);
        assert_file_refused(lacking[i].dtype, f.at, f.count, TERN_ERR_DTYPE, lacking[i].dtype);
        FILE *list = fmemopen(listed, sizeof listed, "w");
        assert_int_equal(tern_state_list(write_file("lacking", f.at, f.count), list), TERN_OK);
        fclose(list);
        assert_non_null(strstr(listed, lacking[i].dtype));
        assert_non_null(strstr(listed, "which tern cannot load"));
        free(f.at);
    }
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_bad_header_is_refused_with_its_reason),
        DATA_TEST(a_length_that_cannot_be_is_refused),
        DATA_TEST(a_character_0_behind_the_header_is_refused),
        DATA_TEST(a_name_of_a_megabyte_is_refused),
        DATA_TEST(a_million_tensors_take_no_more_memory_than_allowed),
        DATA_TEST(metadata_take_no_more_memory_than_allowed),
        DATA_TEST(each_header_at_the_edge_is_read),
        DATA_TEST(each_dtype_that_tern_lacks_is_listed_but_not_loaded),
    };
    return cmocka_run_group_tests_name("safetensors_bad", tests, start_group, end_group);
}
