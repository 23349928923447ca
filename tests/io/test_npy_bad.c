// SPDX-License-Identifier: Apache-2.0
// Files that are no npy files, or not whole ones: each is refused with its code and sentence, and
// takes no more memory than a file of its size may.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy_build.h"

#define D                    "{'descr': "
#define F                    ", 'fortran_order': False"
#define S                    ", 'shape': "
#define HEADER(descr, shape) "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }\n"

// Files as they are.
static const struct {
    const char *name;
    const char *bytes;
    size_t nbytes;
    const char *words;
} starts[] = {
#define START(name, bytes, words)                                                                  \
    {                                                                                              \
        name, bytes, sizeof bytes - 1, words                                                       \
    }
    START("magic alone", "\x93NUMPY", "does not begin with"),
    START("half a version", "\x93NUMPY\x01", "does not begin with"),
    START("no length", "\x93NUMPY\x01\x00", "does not begin with"),
    START("half a length", "\x93NUMPY\x01\x00\x10", "does not begin with"),
    START("half a length of 2.0", "\x93NUMPY\x02\x00\x10\x00", "ends in the length of its header"),
    START("version 0.0", "\x93NUMPY\x00\x00\x02\x00{}", "version 0.0"),
    START("version 1.1", "\x93NUMPY\x01\x01\x02\x00{}", "version 1.1"),
    START("version 4.0", "\x93NUMPY\x04\x00\x02\x00\x00\x00{}", "version 4.0"),
    START("version 255.255", "\x93NUMPY\xff\xff\x02\x00{}", "version 255.255"),
    START("4 GB of header in 12 bytes", "\x93NUMPY\x02\x00\xf0\xff\xff\xff",
          "has a header of 4294967280 bytes, more than 65536"),
    START("header past the end", "\x93NUMPY\x01\x00\xff\xff{'descr'", "ends in its header of"),
    START("one byte past the end", "\x93NUMPY\x03\x00\x03\x00\x00\x00{}", "ends in its header of"),
    START("no header text", "\x93NUMPY\x01\x00\x00\x00", "no dictionary"),
};

static void a_file_must_begin_as_one_of_numpys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        assert_file_refused(starts[i].name, starts[i].bytes, starts[i].nbytes, TERN_ERR_FORMAT,
                            starts[i].words);
}

// Header texts, with the elements of two float32 behind.
static const struct {
    const char *name, *header;
    tern_status code;
    const char *words;
} headers[] = {
    {"no dictionary", "['descr']", TERN_ERR_FORMAT, "is no dictionary"},
    {"open dictionary", D "'<f4'" F S "(2,), ", TERN_ERR_FORMAT, "is no dictionary"},
    {"no colon", "{'descr' '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"no comma", D "'<f4' 'fortran_order': False" S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"two commas", D "'<f4'" F S "(2,),, }", TERN_ERR_FORMAT, "is no dictionary"},
    {"comma first", "{, 'descr': '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"key without quotes", "{descr: '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"unequal quotes", "{'descr\": '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "another key"},
    {"prefix u", "{u'descr': '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"escape", "{'\\x64escr': '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"a call", "__import__('os').system('true')", TERN_ERR_FORMAT, "is no dictionary"},
    {"empty dictionary", "{}", TERN_ERR_FORMAT, "lacks one of"},
    {"no descr", "{'fortran_order': False" S "(2,), }", TERN_ERR_FORMAT, "lacks one of"},
    {"no order", D "'<f4'" S "(2,), }", TERN_ERR_FORMAT, "lacks one of"},
    {"no shape", D "'<f4'" F ", }", TERN_ERR_FORMAT, "lacks one of"},
    {"key twice", D "'<f4'" F S "(2,), 'descr': '<f4', }", TERN_ERR_FORMAT, "has a key twice"},
    {"extra key", D "'<f4'" F S "(2,), 'x': 1, }", TERN_ERR_FORMAT, "another key than descr"},
    {"longer key", "{'descr ': '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "another key than descr"},
    {"text behind", HEADER("'<f4'", "(2,)") "x", TERN_ERR_FORMAT, "goes on after the dictionary"},
    {"two newlines", HEADER("'<f4'", "(2,)") "\n", TERN_ERR_FORMAT, "goes on after"},
    {"newline and space", HEADER("'<f4'", "(2,)") " ", TERN_ERR_FORMAT, "goes on after"},
    {"carriage return", D "'<f4'" F S "(2,), }\r\n", TERN_ERR_FORMAT, "goes on after"},
    {"tab", "{\t'descr': '<f4'" F S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},
    {"line within", D "'<f4'" F "\n" S "(2,), }", TERN_ERR_FORMAT, "is no dictionary"},

    {"order 0", D "'<f4', 'fortran_order': 0" S "(2,), }", TERN_ERR_FORMAT,
     "fortran_order is neither True nor False"},
    {"order true", D "'<f4', 'fortran_order': true" S "(2,), }", TERN_ERR_FORMAT,
     "fortran_order is neither"},
    {"order in quotes", D "'<f4', 'fortran_order': 'False'" S "(2,), }", TERN_ERR_FORMAT,
     "fortran_order is neither"},
    {"order Falsely", D "'<f4', 'fortran_order': Falsely" S "(2,), }", TERN_ERR_FORMAT,
     "is no dictionary"},

    {"no tuple", HEADER("'<f4'", "(2)"), TERN_ERR_FORMAT, "(n) is one as (n,)"},
    {"list", HEADER("'<f4'", "[2]"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"number", HEADER("'<f4'", "2"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"comma alone", HEADER("'<f4'", "(,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"two commas in it", HEADER("'<f4'", "(2,,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"no comma in it", HEADER("'<f4'", "(2 1)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"open", D "'<f4'" F S "(2,", TERN_ERR_FORMAT, "its shape is no tuple"},
    {"negative", HEADER("'<f4'", "(-2,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"plus", HEADER("'<f4'", "(+2,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"hexadecimal", HEADER("'<f4'", "(0x2,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"zero first", HEADER("'<f4'", "(02,)"), TERN_ERR_FORMAT, "begins with 0"},
    {"underscore", HEADER("'<f4'", "(1_0,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"float", HEADER("'<f4'", "(2.0,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"two L", HEADER("'<f4'", "(2LL,)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"nested", HEADER("'<f4'", "((2,),)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"numpy's int", HEADER("'<f4'", "(np.int64(2),)"), TERN_ERR_FORMAT, "its shape is no tuple"},
    {"2^63", HEADER("'<f4'", "(9223372036854775808,)"), TERN_ERR_FORMAT, "larger than 2^63 - 1"},
    {"10^30", HEADER("'<f4'", "(1000000000000000000000000000000,)"), TERN_ERR_FORMAT,
     "larger than 2^63 - 1"},
    {"2^63 beside 0", HEADER("'<f4'", "(0, 9223372036854775808)"), TERN_ERR_FORMAT,
     "larger than 2^63 - 1"},
    {"9 dimensions", HEADER("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), TERN_ERR_FORMAT,
     "more than 8 dimensions"},
    {"wraps to 0", HEADER("'<f4'", "(4294967296, 4294967296)"), TERN_ERR_FORMAT,
     "more elements than can be"},
    {"wraps to 2", HEADER("'<f4'", "(9223372036854775807, 2, 2147483649)"), TERN_ERR_FORMAT,
     "more elements than can be"},
    {"bytes wrap to 8", HEADER("'<f4'", "(4611686018427387906,)"), TERN_ERR_FORMAT,
     "more elements than can be"},

    {"3 elements", HEADER("'<f4'", "(3,)"), TERN_ERR_FORMAT,
     "ends after 8 bytes of elements, but its shape wants 12"},
    {"a million", HEADER("'<f4'", "(1000000,)"), TERN_ERR_FORMAT, "but its shape wants 4000000"},
    {"2^60", HEADER("'<f4'", "(1152921504606846976,)"), TERN_ERR_FORMAT,
     "but its shape wants 4611686018427387904"},
    {"1 element", HEADER("'<f4'", "(1,)"), TERN_ERR_FORMAT,
     "goes on after the 4 bytes of its elements"},
    {"scalar", HEADER("'<f4'", "()"), TERN_ERR_FORMAT, "goes on after the 4 bytes"},
    {"none", HEADER("'<f4'", "(0,)"), TERN_ERR_FORMAT, "goes on after the 0 bytes"},

    {"None", HEADER("None", "(2,)"), TERN_ERR_FORMAT, "its descr is no string"},
    {"empty descr", HEADER("''", "(2,)"), TERN_ERR_FORMAT, "its descr is no string"},
    {"descr without quotes", HEADER("<f4", "(2,)"), TERN_ERR_FORMAT, "its descr is no string"},
    {"open descr", "{'descr': '<f4", TERN_ERR_FORMAT, "its descr is no string"},
    {"structured", HEADER("[('a', '<f4')]", "(2,)"), TERN_ERR_FORMAT, "structured array"},
    {"subarray", HEADER("('<f4', (2,))", "(1,)"), TERN_ERR_FORMAT, "structured array"},
    {"objects", HEADER("'|O'", "(1,)"), TERN_ERR_FORMAT, "Python objects, which are never read"},
    {"objects of 8", HEADER("'O8'", "(1,)"), TERN_ERR_FORMAT, "Python objects"},
    {"long texts", HEADER("'<U99999999'", "()"), TERN_ERR_FORMAT, "but its shape wants 399999996"},
    {"texts without end", HEADER("'<U9223372036854775807'", "()"), TERN_ERR_DTYPE,
     "<U9223372036854775807"},
    {"int16", HEADER("'<i2'", "(4,)"), TERN_ERR_DTYPE, "<i2"},
    {"int16, too few", HEADER("'<i2'", "(5,)"), TERN_ERR_FORMAT, "but its shape wants 10"},
    {"float128", HEADER("'<f16'", "(0,)"), TERN_ERR_FORMAT, "goes on after the 0 bytes"},
    {"numpy's bfloat16", HEADER("'<V2'", "(4,)"), TERN_ERR_DTYPE, "<V2"},
    {"name", HEADER("'float32'", "(2,)"), TERN_ERR_DTYPE, "float32"},
    {"unknown", HEADER("'%n%s'", "(2,)"), TERN_ERR_DTYPE, "%n%s"},
    {"two orders", HEADER("'<>f4'", "(2,)"), TERN_ERR_DTYPE, "<>f4"},
    {"order alone", HEADER("'<'", "(2,)"), TERN_ERR_DTYPE, "<"},
    {"dates", HEADER("'<M8[ns]'", "(1,)"), TERN_ERR_DTYPE, "<M8[ns]"},
    {"bools of 2", HEADER("'|b1'", "(8,)"), TERN_ERR_FORMAT, "is the bool 2, not 0 or 1"},
};

static void a_header_must_be_one_of_numpys(void **state)
{
    (void)state;
    static const unsigned char elements[8] = {1, 0, 0, 2, 1, 1, 0, 0};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (int version = 1; version <= 3; version++) {
            unsigned char bytes[400];
            size_t nbytes = build_npy(bytes, sizeof bytes, version, headers[i].header, elements,
                                      sizeof elements);
            assert_file_refused(headers[i].name, bytes, nbytes, headers[i].code, headers[i].words);
        }
}

static void a_bool_that_is_none_is_named(void **state)
{
    (void)state;
    static const unsigned char elements[8] = {1, 0, 0, 2, 1, 1, 0, 0};
    unsigned char bytes[400];
    size_t nbytes = build_npy(bytes, sizeof bytes, 1, HEADER("'|b1'", "(2, 4)"), elements, 8);
    assert_file_refused("made", bytes, nbytes, TERN_ERR_FORMAT, "element 3 of \"array\"");
}

static void a_header_of_more_than_64_KiB_is_refused(void **state)
{
    (void)state;
    static char header[65537 + 1];
    static unsigned char bytes[70000];
    static const float elements[2];
    memset(header, ' ', sizeof header - 1);
    static const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    memcpy(header, text, sizeof text - 1);
    size_t nbytes = build_npy(bytes, sizeof bytes, 2, header, elements, sizeof elements);
    assert_file_refused("made", bytes, nbytes, TERN_ERR_FORMAT,
                        "a header of 65537 bytes, more than");
}

static void a_file_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    static const float elements[2] = {1, 2};
    unsigned char bytes[400];
    size_t nbytes =
        build_npy(bytes, sizeof bytes, 1, HEADER("'<f4'", "(2,)"), elements, sizeof elements);
    for (size_t length = 1; length < nbytes; length++)
        assert_file_refused("made", bytes, length, TERN_ERR_FORMAT, "");
    bytes[nbytes] = 0;
    assert_file_refused("made", bytes, nbytes + 1, TERN_ERR_FORMAT, "goes on after the 8 bytes");
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_file_must_begin_as_one_of_numpys),
        DATA_TEST(a_header_must_be_one_of_numpys),
        DATA_TEST(a_bool_that_is_none_is_named),
        DATA_TEST(a_header_of_more_than_64_KiB_is_refused),
        DATA_TEST(a_file_that_is_cut_anywhere_is_refused),
    };
    return cmocka_run_group_tests_name("npy_bad", tests, start_group, end_group);
}
