// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the macros of tensor.h learn from the C type of the caller's data, so that numbers of one
/// type are not read as another's, and nothing is read past an array. Programs use nothing of it by
/// name.
#ifndef TERN_DATA_TYPE_H
#define TERN_DATA_TYPE_H

#include <tern/base.h>
#include <tern/device.h>
#include <tern/dtype.h>

/// What stands for words of 16 bits, where a dtype is expected: float16 or bfloat16.
#define TERN_DATA_WORDS_ 16

#ifndef __cplusplus

/// What the compiler names when it refuses data: this converts to no dtype.
struct tern_data_is_of_no_dtype_ {
    int unused_; ///< nothing
};
/// One of them.
#define TERN_DATA_REFUSED_ ((struct tern_data_is_of_no_dtype_){0})

/// `value` for an array of numbers of a type, and for an array of such arrays.
#define TERN_DATA_OF_(type, value)                                                                 \
    type * : (value), const type * : (value), type(*)[] : (value), const type(*)[] : (value)
/// Likewise for a type of four or eight bytes.
#define TERN_DATA_INTEGER_(type) TERN_DATA_OF_(type, sizeof(type) == 8 ? TERN_INT64 : TERN_INT32)

// clang-format off
/// The dtype that a pointer's type says, 0 for void *, `other` for what is no pointer to numbers.
#define TERN_DATA_SELECT_(pointer, other)                                                          \
    _Generic((pointer),                                                                            \
             TERN_DATA_OF_(float, TERN_FLOAT32),                                                   \
             TERN_DATA_OF_(double, TERN_FLOAT64),                                                  \
             TERN_DATA_INTEGER_(int),                                                              \
             TERN_DATA_INTEGER_(long),                                                             \
             TERN_DATA_INTEGER_(long long),                                                        \
             TERN_DATA_OF_(unsigned char, TERN_UINT8),                                             \
             TERN_DATA_OF_(bool, TERN_BOOL),                                                       \
             TERN_DATA_OF_(short, TERN_DATA_WORDS_),                                               \
             TERN_DATA_OF_(unsigned short, TERN_DATA_WORDS_),                                      \
             void *: 0, const void *: 0,                                                           \
             TERN_DATA_OF_(char, TERN_DATA_REFUSED_),                                              \
             TERN_DATA_OF_(signed char, TERN_DATA_REFUSED_),                                       \
             TERN_DATA_OF_(unsigned int, TERN_DATA_REFUSED_),                                      \
             TERN_DATA_OF_(unsigned long, TERN_DATA_REFUSED_),                                     \
             TERN_DATA_OF_(unsigned long long, TERN_DATA_REFUSED_),                                \
             TERN_DATA_OF_(long double, TERN_DATA_REFUSED_),                                       \
             default: other)
// clang-format on

// A macro takes `(float[]){1, 2}` for two words, `(float[]){1` and `2}`, so that its type is read
// from the parentheses in front; a word that is nothing but parentheses is an expression.

/// The second word of a list.
#define TERN_DATA_SECOND_(...) TERN_DATA_SECOND_IN_(__VA_ARGS__)
/// The list is expanded twice, so that what it begins with may be the call of a macro.
#define TERN_DATA_SECOND_IN_(...) TERN_DATA_SECOND_OF_(__VA_ARGS__)
/// The second word is this.
#define TERN_DATA_SECOND_OF_(a, b, ...) b
/// What follows the first word of a list.
#define TERN_DATA_REST_(...) TERN_DATA_REST_OF_(__VA_ARGS__)
/// The rest is this.
#define TERN_DATA_REST_OF_(a, ...) __VA_ARGS__
/// The first word of a list.
#define TERN_DATA_FIRST_(...) TERN_DATA_FIRST_OF_(__VA_ARGS__)
/// The first word is this.
#define TERN_DATA_FIRST_OF_(a, ...) a
/// Parentheses in front make this a list whose second word says so.
#define TERN_DATA_IN_FRONT_(...) , PARENTHESES_,
/// Likewise those that follow the ones in front.
#define TERN_DATA_BEHIND_(...) , WORD_,
/// Takes the parentheses in front away.
#define TERN_DATA_SKIP_(...)
/// Makes them the first word.
#define TERN_DATA_GROUP_(...) (__VA_ARGS__),

/// The dtype that the type of a macro's word says.
#define TERN_DATA_TYPE_(word)                                                                      \
    TERN_DATA_TYPE_OF_(TERN_DATA_SECOND_(TERN_DATA_IN_FRONT_ word, WORD_, ))(word)
/// The macro for a word of a kind.
#define TERN_DATA_TYPE_OF_(kind) TERN_DATA_TYPE_AT_(kind)
/// The kind is expanded from here on.
#define TERN_DATA_TYPE_AT_(kind) TERN_DATA_TYPE_##kind
/// An expression.
#define TERN_DATA_TYPE_WORD_(word) TERN_DATA_SELECT_(word, TERN_DATA_REFUSED_)
/// Parentheses, and perhaps more.
#define TERN_DATA_TYPE_PARENTHESES_(word)                                                          \
    TERN_DATA_MORE_OF_(TERN_DATA_SECOND_(TERN_DATA_BEHIND_ TERN_DATA_SKIP_ word(), CAST_, ))(word)
/// The macro for a word that begins with parentheses.
#define TERN_DATA_MORE_OF_(kind) TERN_DATA_MORE_AT_(kind)
/// The kind is expanded from here on.
#define TERN_DATA_MORE_AT_(kind) TERN_DATA_TYPE_##kind
/// A cast or a literal: of the type in parentheses. What else begins so is not known.
#define TERN_DATA_TYPE_CAST_(word)                                                                 \
    TERN_DATA_SELECT_(*(__typeof__ TERN_DATA_FIRST_(TERN_DATA_GROUP_ word) *)0, 0)

// ---- how much of it there is --------------------------------------------------------------------

/// `nbytes` for an array, 0 for a pointer: what it points to is not known.
#define TERN_DATA_ARRAY_(data, nbytes)                                                             \
    (__builtin_types_compatible_p(__typeof__(data), __typeof__((void)0, (data))) ? 0 : (nbytes))

/// The options of a call, the data counted instead of kept: what an array in braces holds is known
/// where its words and those of the options are not told apart.
struct tern_data_size_ {
    tern_dtype dtype;   ///< not looked at
    tern_device device; ///< nor this
    bool requires_grad; ///< nor this
    size_t nbytes;      ///< nor this
    char reserved_;     ///< in front of the data
    size_t found;       ///< of the data
};

/// The bytes of the array that begins with `word`; then that word and those behind it, and a comma.
#define TERN_DATA_NBYTES_(word, ...)                                                               \
    TERN_DATA_NBYTES_OF_(TERN_DATA_SECOND_(TERN_DATA_IN_FRONT_ word, WORD_, ))(word, __VA_ARGS__)
/// The macro for a word of a kind.
#define TERN_DATA_NBYTES_OF_(kind) TERN_DATA_NBYTES_AT_(kind)
/// The kind is expanded from here on.
#define TERN_DATA_NBYTES_AT_(kind) TERN_DATA_NBYTES_##kind
/// An expression.
#define TERN_DATA_NBYTES_WORD_(word, ...) TERN_DATA_ARRAY_(word, sizeof(word))
/// Parentheses, and perhaps more.
#define TERN_DATA_NBYTES_PARENTHESES_(word, ...)                                                   \
    TERN_DATA_NBYTES_MORE_OF_(                                                                     \
        TERN_DATA_SECOND_(TERN_DATA_BEHIND_ TERN_DATA_SKIP_ word(), CAST_, ))                      \
    (word, __VA_ARGS__)
/// The macro for a word that begins with parentheses.
#define TERN_DATA_NBYTES_MORE_OF_(kind) TERN_DATA_NBYTES_MORE_AT_(kind)
/// The kind is expanded from here on.
#define TERN_DATA_NBYTES_MORE_AT_(kind) TERN_DATA_NBYTES_##kind
/// A cast or a literal: `sizeof __extension__` goes in front of either. What the caller's options
/// are set to is overridden, so that it is evaluated once, where the options are.
#define TERN_DATA_NBYTES_CAST_(word, ...)                                                          \
    TERN_DATA_ARRAY_(                                                                              \
        *(__typeof__ TERN_DATA_FIRST_(TERN_DATA_GROUP_ word) *)0,                                  \
        ((struct tern_data_size_){.reserved_ = 0,                                                  \
                                  sizeof __extension__ __VA_ARGS__.dtype = TERN_DTYPE_UNSPECIFIED, \
                                  .device = {TERN_DEVICE_UNSPECIFIED, 0},                          \
                                  .requires_grad = false,                                          \
                                  .nbytes = 0})                                                    \
            .found)

#endif
#endif
