// SPDX-License-Identifier: Apache-2.0
// tern's own metadata in a safetensors file, written by hand with the right checksum of the header:
// what they say of its values, and what they may not say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <tern/tern.h>

#include "data/data_fixture.h"
#include "bad_file.h"
#include "crc32c_bitwise.h"
#include "safetensors_bytes.h"

// Of the elements 0, 1, 2, ...
#define TENSORS                                                                                    \
    "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"                               \
    "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[3,6]},"                               \
    "\"y\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[6,6]},"                               \
    "\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[6,6]}"

typedef struct row {
    const char *name;
    const char *metadata; // besides the checksums; JSON in JSON, with ' for an escaped quote
    const char *sums;     // NULL: the right ones
    tern_status code;
    const char *words;
} row;

static file_bytes bytes_of(const row *r)
{
    static const unsigned char elements[] = {0, 1, 2, 3, 4, 5};
    char header[4096], sums[64], digits[16];
    snprintf(sums, sizeof sums, "%08x,%08x,00000000,00000000", crc32c(elements, 3),
             crc32c(elements + 3, 3));
    char *at = header + sprintf(header, "{\"__metadata__\":{");
    for (const char *from = r->metadata; *from; from++)
        at += sprintf(at, *from == '\'' ? "\\\"" : "%c", *from);
    at += sprintf(at, "%s\"tern.crc32c\":\"%s\",\"tern.header_crc32c\":\"00000000\"}," TENSORS "}",
                  r->metadata[0] ? "," : "", r->sums ? r->sums : sums);
    snprintf(digits, sizeof digits, "%08x", crc32c(header, (size_t)(at - header)));
    memcpy(strstr(header, "c\":\"00000000\"}") + 4, digits, 8);
    return safetensors_bytes(header, (size_t)(at - header), sizeof elements);
}

#define STATE(values) "\"tern.state\":\"{'version':1,'values':{" values "}}\""
#define ALL           "'a':null,'b':null,'y':null,'z':null"

static const row rows[] = {
    {"right", "", NULL, TERN_OK, "a b y z"},
    {"right_with_a_state", STATE(ALL), NULL, TERN_OK, "a b y z"},
    {"order", STATE("'z':null,'n':5,'a':null,'y':null,'b':null"), NULL, TERN_OK, "z n a y b"},
    {"bytes", STATE("'a':{'bytes':3},'b':null,'y':{'bytes':0},'z':null"), NULL, TERN_OK, "a b y z"},
    {"tied", "\"tern.tied\":\"{'y':'z','again':'a'}\"", NULL, TERN_OK, "a b y z again"},
    {"few_sums", "", "00000000,00000000,00000000", TERN_ERR_FORMAT, "one of 8 digits for each"},
    {"no_sums", "", "", TERN_ERR_FORMAT, "one of 8 digits for each"},
    {"short_sum", "", "00000000,0000000,00000000,00000000", TERN_ERR_FORMAT, "one of 8 digits"},
    {"long_sum", "", "00000000,00000000,00000000,000000000", TERN_ERR_FORMAT, "one of 8 digits"},
    {"many_sums", "", "00000000,00000000,00000000,00000000,00000000", TERN_ERR_FORMAT,
     "one of 8 digits for each"},
    {"capital_sum", "", "0000000A,00000000,00000000,00000000", TERN_ERR_FORMAT, "one of 8 digits"},
    {"letter_in_a_sum", "", "0000000g,00000000,00000000,00000000", TERN_ERR_FORMAT,
     "one of 8 digits"},
    {"wrong_sum", "", "00000000,00000000,00000000,00000000", TERN_ERR_FORMAT, "\"a\" in |damaged"},
    {"a_later_word", "\"tern.later\":\"\"", NULL, TERN_ERR_UNSUPPORTED, "knows \"tern.later\""},
    {"tied_to_nothing", "\"tern.tied\":\"{'a':'c'}\"", NULL, TERN_ERR_FORMAT,
     "tied to \"c\", which is not there"},
    {"tied_to_itself", "\"tern.tied\":\"{'a':'a'}\"", NULL, TERN_ERR_FORMAT, "which is not there"},
    {"tied_but_different", "\"tern.tied\":\"{'a':'b'}\"", NULL, TERN_ERR_FORMAT,
     "their elements differ"},
    {"tied_in_another_shape", "\"tern.tied\":\"{'a':'z'}\"", NULL, TERN_ERR_FORMAT,
     "their elements differ"},
    {"tied_badly_named", "\"tern.tied\":\"{'':'a'}\"", NULL, TERN_ERR_FORMAT, "a name of 0 bytes"},
    {"tied_array", "\"tern.tied\":\"[]\"", NULL, TERN_ERR_FORMAT, "its tern.tied"},
    {"tied_number", "\"tern.tied\":\"{'a':1}\"", NULL, TERN_ERR_FORMAT, "'\"' is due"},
    {"tied_open", "\"tern.tied\":\"{'y':'z'\"", NULL, TERN_ERR_FORMAT, "is due, not"},
    {"tied_and_more", "\"tern.tied\":\"{} {}\"", NULL, TERN_ERR_FORMAT, "nothing is due"},
    {"state_2", "\"tern.state\":\"{'version':2,'values':{}}\"", NULL, TERN_ERR_UNSUPPORTED,
     "its state has version 2, and this one reads up to 1"},
    {"state_0", "\"tern.state\":\"{'version':0,'values':{}}\"", NULL, TERN_ERR_FORMAT,
     "it has version 0"},
    {"state_of_no_version", "\"tern.state\":\"{'values':{}}\"", NULL, TERN_ERR_FORMAT,
     "\"version\" is due"},
    {"state_of_a_text", "\"tern.state\":\"{'version':'1','values':{}}\"", NULL, TERN_ERR_FORMAT,
     "an integer is due"},
    {"state_without_values", "\"tern.state\":\"{'version':1,'value':{}}\"", NULL, TERN_ERR_FORMAT,
     "\"values\" is due"},
    {"state_and_more", "\"tern.state\":\"{'version':1,'values':{" ALL "},'x':1}\"", NULL,
     TERN_ERR_FORMAT, "'}' is due"},
    {"state_behind", "\"tern.state\":\"{'version':1,'values':{" ALL "}}x\"", NULL, TERN_ERR_FORMAT,
     "nothing is due"},
    {"state_empty", "\"tern.state\":\"\"", NULL, TERN_ERR_FORMAT, "'{' is due, not the end"},
    {"a_tensor_less", STATE("'a':null,'b':null,'y':null"), NULL, TERN_ERR_FORMAT,
     "it has 3 tensors, the file 4"},
    {"a_tensor_more", STATE(ALL ",'c':null"), NULL, TERN_ERR_FORMAT,
     "the tensor \"c\" is not there"},
    {"a_tensor_twice", STATE("'a':null," ALL), NULL, TERN_ERR_FORMAT, "has \"a\" twice"},
    {"an_integer_for_a_tensor", STATE("'a':1,'b':null,'y':null,'z':null"), NULL, TERN_ERR_FORMAT,
     "\"a\" is a tensor"},
    {"a_text_for_a_tensor", STATE("'a':{'text':'b'},'b':null,'y':null,'z':null"), NULL,
     TERN_ERR_FORMAT, "\"a\" is a tensor"},
    {"bytes_of_another_size", STATE("'a':{'bytes':4},'b':null,'y':null,'z':null"), NULL,
     TERN_ERR_FORMAT, "4 bytes, but no such tensor"},
    {"bytes_of_nothing", STATE(ALL ",'c':{'bytes':4}"), NULL, TERN_ERR_FORMAT,
     "4 bytes, but no such tensor"},
    {"an_unknown_type", STATE(ALL ",'c':{'half':'0x1p+0'}"), NULL, TERN_ERR_FORMAT,
     "the unknown type \"half\""},
    {"two_types", STATE(ALL ",'c':{'text':'a','text':'b'}"), NULL, TERN_ERR_FORMAT, "'}' is due"},
    {"a_fraction", STATE(ALL ",'c':1.5"), NULL, TERN_ERR_FORMAT, "not a fraction"},
    {"a_bool", STATE(ALL ",'c':true"), NULL, TERN_ERR_FORMAT, "an integer is due, not 't'"},
    {"2_to_the_63", STATE(ALL ",'c':9223372036854775808"), NULL, TERN_ERR_FORMAT,
     "more than 64 bits"},
    {"below_64_bits", STATE(ALL ",'c':-9223372036854775809"), NULL, TERN_ERR_FORMAT,
     "more than 64 bits"},
    {"a_decimal_double", STATE(ALL ",'c':{'double':'0.5'}"), NULL, TERN_ERR_FORMAT,
     "\"0.5\" is no double"},
    {"a_double_written_otherwise", STATE(ALL ",'c':{'double':'0x2p-1'}"), NULL, TERN_ERR_FORMAT,
     "\"0x2p-1\" is no double"},
    {"a_long_double", STATE(ALL ",'c':{'double':'0x1.00000000000000000000000000000001p+0'}"), NULL,
     TERN_ERR_FORMAT, "is no double"},
    {"a_large_double", STATE(ALL ",'c':{'double':'0x1p+99999999999'}"), NULL, TERN_ERR_FORMAT,
     "is no double"},
    {"an_empty_double", STATE(ALL ",'c':{'double':''}"), NULL, TERN_ERR_FORMAT, "is no double"},
    {"a_nan_of_one", STATE(ALL ",'c':{'double':'nan(0x3ff0000000000000)'}"), NULL, TERN_ERR_FORMAT,
     "is no double"},
    {"an_infinite_text", STATE(ALL ",'c':{'double':'infinity'}"), NULL, TERN_ERR_FORMAT,
     "is no double"},
};

static void assert_names(const row *r, const file_bytes *f)
{
    tern_state *read = tern_state_read(write_file("good", f->at, f->count));
    if (!read)
        fail_msg("%s: %s", r->name, tern_error_message());
    char names[64] = "";
    for (int64_t n = 0; n < tern_state_count(read); n++)
        strcat(strcat(names, n ? " " : ""), tern_state_name_at(read, n));
    assert_string_equal(names, r->words);
    tern_state_free(read);
}

static void each_word_is_taken_or_refused_with_its_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        file_bytes f = bytes_of(r);
        const char *bar = strchr(r->words, '|');
        if (r->code == TERN_OK)
            assert_names(r, &f);
        else
            assert_file_refused(r->name, f.at, f.count, r->code, bar ? bar + 1 : r->words);
        free(f.at);
    }
}

static void types_come_back(void **state)
{
    (void)state;
    const row r = {"types",
                   STATE("'a':{'bytes':3},'i':-7,'d':{'double':'-0x1.8p+1'},'t':{'text':'x\\\\ny'},"
                         "'b':null,'y':null,'z':null"),
                   NULL, TERN_OK, ""};
    file_bytes f = bytes_of(&r);
    tern_state *read = tern_state_read(write_file("types", f.at, f.count));
    free(f.at);
    if (!read)
        fail_msg("%s", tern_error_message());
    size_t size;
    int64_t i;
    double d;
    assert_memory_equal(tern_state_bytes(read, "a", &size), "\0\1\2", 3);
    assert_int_equal(size, 3);
    assert_int_equal(tern_state_get_int(read, "i", &i), TERN_OK);
    assert_int_equal(i, -7);
    assert_int_equal(tern_state_get_double(read, "d", &d), TERN_OK);
    assert_true(d == -3);
    assert_string_equal(tern_state_text(read, "t"), "x\ny");
    tern_state_free(read);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_word_is_taken_or_refused_with_its_reason),
        DATA_TEST(types_come_back),
    };
    return cmocka_run_group_tests_name("safetensors_state", tests, start_group, end_group);
}
