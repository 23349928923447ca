// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the option macros are in C++17 and later: the required values come first and in order, then
/// callables that set options by name.
///
///     tern_module *fc = tern_nn_linear(784, 512, [](auto &o) { o.bias = false; });
///
/// Programs use nothing of it by name.
#ifndef TERN_CPP_H
#define TERN_CPP_H

/// The fields are words of their own from here on.
#define TERN_FIELDS_OF_(function, ...) TERN_FIELDS_IN_(function, __VA_ARGS__)
/// The first of them is a macro, below.
#define TERN_FIELDS_IN_(function, macro, ...) macro(function, __VA_ARGS__)
/// No field by position.
#define TERN_FIELDS_0_(function, ...) tern_cpp_::with<function##_defaults, function##_with>
/// One, which is required.
#define TERN_FIELDS_1_(function, a)                                                                \
    tern_cpp_::with<function##_defaults, function##_with, &function##_options::a>
/// Two.
#define TERN_FIELDS_2_(function, a, b)                                                             \
    tern_cpp_::with<function##_defaults, function##_with, &function##_options::a,                  \
                    &function##_options::b>
/// Three.
#define TERN_FIELDS_3_(function, a, b, c)                                                          \
    tern_cpp_::with<function##_defaults, function##_with, &function##_options::a,                  \
                    &function##_options::b, &function##_options::c>
/// Four.
#define TERN_FIELDS_4_(function, a, b, c, d)                                                       \
    tern_cpp_::with<function##_defaults, function##_with, &function##_options::a,                  \
                    &function##_options::b, &function##_options::c, &function##_options::d>
/// One, which may be left out.
#define TERN_MAYBE_1_(function, a)                                                                 \
    tern_cpp_::any_of<TERN_FIELDS_0_(function, ), TERN_FIELDS_1_(function, a)>
/// Two, likewise.
#define TERN_MAYBE_2_(function, a, b)                                                              \
    tern_cpp_::any_of<TERN_FIELDS_0_(function, ), TERN_FIELDS_1_(function, a),                     \
                      TERN_FIELDS_2_(function, a, b)>

/// One, and a second that may be left out.
#define TERN_FIELDS_1_MAYBE_1_(function, a, b)                                                     \
    tern_cpp_::any_of<TERN_FIELDS_1_(function, a), TERN_FIELDS_2_(function, a, b)>
/// Two, and a third that may be left out.
#define TERN_FIELDS_2_MAYBE_1_(function, a, b, c)                                                  \
    tern_cpp_::any_of<TERN_FIELDS_2_(function, a, b), TERN_FIELDS_3_(function, a, b, c)>
/// Two, the second of which is data of the caller's.
#define TERN_FIELDS_2_DATA_(function, a, data) TERN_FIELDS_2_(function, a, data)

#ifdef __cplusplus
#if __cplusplus < 201703L
#error "tern needs C++17 or later"
#endif

#include <initializer_list>
#include <type_traits>

/// A call, for one list of fields: `function_with` on the defaults, changed by the words.
#define TERN_WITH_(function, fields, initialiser, ...)                                             \
    (TERN_FIELDS_OF_(function, TERN_WORDS_ fields)::call(__VA_ARGS__))
namespace tern_cpp_
{

/// What a call takes for a field of a type, and how the field is set to it.
template <typename Field> struct word {
    using type = Field;
    template <typename Options>
    static void set(Options &options, Field Options::*field, Field value)
    {
        options.*field = value;
    }
};

/// The word for a field.
template <typename Field> struct word_of;
template <typename Options, typename Field> struct word_of<Field Options::*> : word<Field> {
};

/// Required values in order, then callables, which are handed the options.
template <auto defaults, auto make, auto... fields> struct with {
    using options_type = decltype(defaults());
    template <typename... Set,
              typename = std::enable_if_t<(std::is_invocable_v<Set, options_type &> && ...)>>
    static auto call(typename word_of<decltype(fields)>::type... values, Set &&...set)
    {
        auto options = defaults();
        (word_of<decltype(fields)>::set(options, fields, values), ...);
        (static_cast<void>(set(options)), ...);
        return make(&options);
    }
};

/// Whichever fits of several calls.
template <typename... Calls> struct any_of : Calls... {
    using Calls::call...;
};

/// Calls make(count, list): what is in braces is evaluated in order.
template <typename Count, typename Item, typename Result>
Result list(Result (*make)(Count, Item *), std::initializer_list<std::remove_const_t<Item>> items)
{
    return make(static_cast<Count>(items.size()), items.begin());
}

/// Likewise make(first, count, list).
template <typename First, typename Count, typename Item, typename Result>
Result list(Result (*make)(First, Count, Item *), typename word<First>::type first,
            std::initializer_list<std::remove_const_t<Item>> items)
{
    return make(first, static_cast<Count>(items.size()), items.begin());
}

} // namespace tern_cpp_

#endif
#endif
