// SPDX-License-Identifier: Apache-2.0
/// @file
/// How a call takes options: required values in order, the others by name.
///
/// A constructor with options is a macro over a function that takes a pointer to an options struct:
///
///     tern_module *fc = tern_nn_linear(784, 512, .bias = false);
///
/// The required values come first and in order, the optional ones by name; a required value that is
/// missing or of another type and a name that does not exist are compile errors. In C++17 and later
/// a callable sets the optional ones:
///
///     tern_module *fc = tern_nn_linear(784, 512, [](auto &o) { o.bias = false; });
///
/// Bindings fill the struct themselves:
///
///     tern_nn_linear_options o = tern_nn_linear_defaults();
///     o.in_features = 784; o.out_features = 512; o.bias = false;
///     tern_module *fc = tern_nn_linear_with(&o);
///
/// Calls of one family share a struct `family_options`, its values unless said, `FAMILY_DEFAULTS_`,
/// what comes by position, `FAMILY_FIELDS_`, and the function `family_defaults`. Nothing here owns
/// memory or fails. Threads: any.
#ifndef TERN_OPTIONS_H
#define TERN_OPTIONS_H

#include <stdio.h>
#include <tern/base.h>

/// A pragma inside a macro.
#define TERN_PRAGMA_(words) _Pragma(#words)
// -Wshadow: the options of a call inside the options of another are inside its block.
// -Wmissing-braces: `.stride = 2` gives the first size of several (sizes.h).
// -Woverlength-strings: TERN_IS_NAMED_ takes an argument as a string.
// -Wint-conversion, -Wincompatible-pointer-types: `.padding = "same"` and a module where a tensor
// belongs are errors, also for compilers that only warn.
#if defined(__clang__)
#define TERN_OPTIONS_BEGIN_                                                                        \
    TERN_PRAGMA_(clang diagnostic push)                                                            \
    TERN_PRAGMA_(clang diagnostic ignored "-Winitializer-overrides")                               \
    TERN_PRAGMA_(clang diagnostic ignored "-Wmissing-braces")                                      \
    TERN_PRAGMA_(clang diagnostic ignored "-Wmissing-field-initializers")                          \
    TERN_PRAGMA_(clang diagnostic ignored "-Woverlength-strings")                                  \
    TERN_PRAGMA_(clang diagnostic ignored "-Wshadow")                                              \
    TERN_PRAGMA_(clang diagnostic error "-Wint-conversion")                                        \
    TERN_PRAGMA_(clang diagnostic error "-Wincompatible-pointer-types")
#define TERN_OPTIONS_END_ TERN_PRAGMA_(clang diagnostic pop)
#else
/// Before the initialiser of TERN_WITH_: what follows overrides on purpose.
#define TERN_OPTIONS_BEGIN_                                                                        \
    TERN_PRAGMA_(GCC diagnostic push)                                                              \
    TERN_PRAGMA_(GCC diagnostic ignored "-Woverride-init")                                         \
    TERN_PRAGMA_(GCC diagnostic ignored "-Woverride-init-side-effects")                            \
    TERN_PRAGMA_(GCC diagnostic ignored "-Wmissing-braces")                                        \
    TERN_PRAGMA_(GCC diagnostic ignored "-Woverlength-strings")                                    \
    TERN_PRAGMA_(GCC diagnostic ignored "-Wshadow")                                                \
    TERN_PRAGMA_(GCC diagnostic error "-Wint-conversion")                                          \
    TERN_PRAGMA_(GCC diagnostic error "-Wincompatible-pointer-types")
/// After that initialiser: warnings are as before.
#define TERN_OPTIONS_END_ TERN_PRAGMA_(GCC diagnostic pop)
#endif

/// Calls `function_with(&options)`, options being those of the family, overridden by the arguments.
/// FAMILY_FIELDS_ is `required, optional, (fields), (types)`: how many values come by position, how
/// many more may, their fields, and the types of the required ones.
#define TERN_WITH_(function, family, FAMILY, ...)                                                  \
    TERN_WITH_OPTIONS_(function, family, (FAMILY##_DEFAULTS_, .reserved_ = 0), FAMILY##_FIELDS_,   \
                       __VA_ARGS__)
/// Likewise with another initialiser of the options, which ends with `reserved_`, so that values
/// without a name fill the fields behind it.
#define TERN_WITH_OPTIONS_(function, family, initialiser, fields, ...)                             \
    TERN_CALL_(function, family, initialiser, fields, __VA_ARGS__)
/// Takes the parentheses from `TERN_ARGUMENTS_ (a, b)`.
#define TERN_ARGUMENTS_(...) __VA_ARGS__

#ifndef __cplusplus
/// The fields are arguments of their own from here on.
#define TERN_CALL_(function, family, initialiser, required, optional, fields, types, ...)          \
    __extension__({                                                                                \
        TERN_OPTIONS_BEGIN_                                                                        \
        _Static_assert(TERN_BEHIND_##required##_##optional##_(__VA_ARGS__, , , , , ),              \
                       "too many arguments: options are given by name, as in .stride = 2");        \
        family##_options options_ = {                                                              \
            TERN_ARGUMENTS_ initialiser,                                                           \
            TERN_CHECKED_(TERN_REQUIRED_##required##_, TERN_ARGUMENTS_ types, __VA_ARGS__)};       \
        TERN_OPTIONS_END_                                                                          \
        function##_with(&options_);                                                                \
    })
/// The types are arguments of their own from here on.
#define TERN_CHECKED_(check, ...) check(__VA_ARGS__)

/// Whether an argument of a macro is none, or begins with a dot. A value behind those that a call
/// takes in order would set whichever option comes first.
#define TERN_IS_NAMED_(argument)                                                                   \
    (sizeof(#argument) == 1 || __builtin_strncmp(#argument, ".", 1) == 0)
/// No value by position.
#define TERN_BEHIND_0_0_(a, ...) TERN_IS_NAMED_(a)
/// Behind one.
#define TERN_BEHIND_1_0_(a, b, ...) TERN_IS_NAMED_(b)
/// Behind two.
#define TERN_BEHIND_2_0_(a, b, c, ...) TERN_IS_NAMED_(c)
/// Behind three.
#define TERN_BEHIND_3_0_(a, b, c, d, ...) TERN_IS_NAMED_(d)
/// Behind four.
#define TERN_BEHIND_4_0_(a, b, c, d, e, ...) TERN_IS_NAMED_(e)
/// Behind five.
#define TERN_BEHIND_5_0_(a, b, c, d, e, f, ...) TERN_IS_NAMED_(f)
/// Behind one that may be left out.
#define TERN_BEHIND_0_1_(a, b, ...) (TERN_IS_NAMED_(a) || TERN_IS_NAMED_(b))
/// Behind two that may be left out.
#define TERN_BEHIND_0_2_(a, b, c, ...) (TERN_BEHIND_0_1_(a, b, ) || TERN_IS_NAMED_(c))
/// Behind one and one that may be left out.
#define TERN_BEHIND_1_1_(a, b, c, ...) TERN_BEHIND_0_1_(b, c, )
/// Behind one and two that may be left out.
#define TERN_BEHIND_1_2_(a, b, c, d, ...) TERN_BEHIND_0_2_(b, c, d, )
/// Behind two and one that may be left out.
#define TERN_BEHIND_2_1_(a, b, c, d, ...) TERN_BEHIND_0_1_(c, d, )
/// Behind data, which may be several arguments, `(float[]){1` and `2}`.
#define TERN_BEHIND_1_DATA_(a, ...) true

/// Passes each required value through the function of its type, and the arguments after them as
/// they are: where an initialiser would take the 2 of `tern_zeros(2, 3)` for a rank, the call does
/// not compile; nor does one that leaves a required value out.
#define TERN_REQUIRED_0_(none, ...) __VA_ARGS__
/// One.
#define TERN_REQUIRED_1_(of_a, ...) TERN_REQUIRED_THEN_1_(of_a, __VA_ARGS__, )
/// Two.
#define TERN_REQUIRED_2_(of_a, of_b, ...) TERN_REQUIRED_THEN_2_(of_a, of_b, __VA_ARGS__, )
/// Three.
#define TERN_REQUIRED_3_(of_a, of_b, of_c, ...)                                                    \
    TERN_REQUIRED_THEN_3_(of_a, of_b, of_c, __VA_ARGS__, )
/// Four.
#define TERN_REQUIRED_4_(of_a, of_b, of_c, of_d, ...)                                              \
    TERN_REQUIRED_THEN_4_(of_a, of_b, of_c, of_d, __VA_ARGS__, )
/// Five.
#define TERN_REQUIRED_5_(of_a, of_b, of_c, of_d, of_e, ...)                                        \
    TERN_REQUIRED_THEN_5_(of_a, of_b, of_c, of_d, of_e, __VA_ARGS__, )
/// One and what follows.
#define TERN_REQUIRED_THEN_1_(of_a, a, ...) tern_required_##of_a##_(a), __VA_ARGS__
/// Likewise two.
#define TERN_REQUIRED_THEN_2_(of_a, of_b, a, ...)                                                  \
    tern_required_##of_a##_(a), TERN_REQUIRED_THEN_1_(of_b, __VA_ARGS__)
/// Likewise three.
#define TERN_REQUIRED_THEN_3_(of_a, of_b, of_c, a, ...)                                            \
    tern_required_##of_a##_(a), TERN_REQUIRED_THEN_2_(of_b, of_c, __VA_ARGS__)
/// Likewise four.
#define TERN_REQUIRED_THEN_4_(of_a, of_b, of_c, of_d, a, ...)                                      \
    tern_required_##of_a##_(a), TERN_REQUIRED_THEN_3_(of_b, of_c, of_d, __VA_ARGS__)
/// Likewise five.
#define TERN_REQUIRED_THEN_5_(of_a, of_b, of_c, of_d, of_e, a, ...)                                \
    tern_required_##of_a##_(a), TERN_REQUIRED_THEN_4_(of_b, of_c, of_d, of_e, __VA_ARGS__)
#endif

/// Defines the function that takes a required value of a type, and returns it.
#define TERN_REQUIRED_TYPE_(name, type)                                                            \
    static inline type tern_required_##name##_(type value)                                         \
    {                                                                                              \
        return value;                                                                              \
    }
TERN_REQUIRED_TYPE_(int64, int64_t)
TERN_REQUIRED_TYPE_(double, double)
TERN_REQUIRED_TYPE_(text, const char *)
TERN_REQUIRED_TYPE_(file, FILE *)

#ifndef __cplusplus
/// `pointer`, which is of that type or NULL: another one is an error, also for compilers that only
/// warn.
#define TERN_POINTER_(type, pointer) _Generic((pointer), type : (pointer), void * : (pointer))
#else
/// C++ takes no other pointer.
#define TERN_POINTER_(type, pointer) (pointer)
#endif

// In C++ the fields are members of the family that the call sets.
/// The fields are arguments of their own from here on.
#define TERN_FIELDS_(list, ...) list(__VA_ARGS__)
/// No field by position.
#define TERN_FIELDS_0_0_(function, family, ...) tern_cpp_::with<family##_defaults, function##_with>
/// One, which is required.
#define TERN_FIELDS_1_0_(function, family, a)                                                      \
    tern_cpp_::with<family##_defaults, function##_with, &family##_options::a>
/// Two.
#define TERN_FIELDS_2_0_(function, family, a, b)                                                   \
    tern_cpp_::with<family##_defaults, function##_with, &family##_options::a, &family##_options::b>
/// Three.
#define TERN_FIELDS_3_0_(function, family, a, b, c)                                                \
    tern_cpp_::with<family##_defaults, function##_with, &family##_options::a,                      \
                    &family##_options::b, &family##_options::c>
/// Four.
#define TERN_FIELDS_4_0_(function, family, a, b, c, d)                                             \
    tern_cpp_::with<family##_defaults, function##_with, &family##_options::a,                      \
                    &family##_options::b, &family##_options::c, &family##_options::d>
/// Five.
#define TERN_FIELDS_5_0_(function, family, a, b, c, d, e)                                          \
    tern_cpp_::with<family##_defaults, function##_with, &family##_options::a,                      \
                    &family##_options::b, &family##_options::c, &family##_options::d,              \
                    &family##_options::e>
/// One, which may be left out.
#define TERN_FIELDS_0_1_(function, family, a)                                                      \
    tern_cpp_::any_of<TERN_FIELDS_0_0_(function, family, ), TERN_FIELDS_1_0_(function, family, a)>
/// Two, likewise.
#define TERN_FIELDS_0_2_(function, family, a, b)                                                   \
    tern_cpp_::any_of<TERN_FIELDS_0_0_(function, family, ), TERN_FIELDS_1_0_(function, family, a), \
                      TERN_FIELDS_2_0_(function, family, a, b)>
/// One, and a second that may be left out.
#define TERN_FIELDS_1_1_(function, family, a, b)                                                   \
    tern_cpp_::any_of<TERN_FIELDS_1_0_(function, family, a),                                       \
                      TERN_FIELDS_2_0_(function, family, a, b)>
/// One, and two that may be left out.
#define TERN_FIELDS_1_2_(function, family, a, b, c)                                                \
    tern_cpp_::any_of<TERN_FIELDS_1_0_(function, family, a),                                       \
                      TERN_FIELDS_2_0_(function, family, a, b),                                    \
                      TERN_FIELDS_3_0_(function, family, a, b, c)>
/// Two, and a third that may be left out.
#define TERN_FIELDS_2_1_(function, family, a, b, c)                                                \
    tern_cpp_::any_of<TERN_FIELDS_2_0_(function, family, a, b),                                    \
                      TERN_FIELDS_3_0_(function, family, a, b, c)>
/// Two, the second of which is data of the caller's.
#define TERN_FIELDS_1_DATA_(function, family, a, data) TERN_FIELDS_2_0_(function, family, a, data)

#ifdef __cplusplus
#if __cplusplus < 201703L
#error "tern needs C++17 or later"
#endif

#include <initializer_list>
#include <type_traits>

/// `function_with` on the family's defaults, changed by the arguments.
#define TERN_CALL_(function, family, initialiser, required, optional, fields, types, ...)          \
    (TERN_FIELDS_(TERN_FIELDS_##required##_##optional##_, function, family,                        \
                  TERN_ARGUMENTS_ fields)::call(__VA_ARGS__))
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

#ifdef __cplusplus
/// Calls make(count, items) with what is listed; braces are evaluated in order.
#define TERN_ITEMS_(type, none, make, ...) (tern_cpp_::list(make, {__VA_ARGS__}))
#else
/// Calls make(count, items) with what is listed. The list is an array initialiser, which gcc and
/// clang evaluate in order: so the random stream is that of the order written. `none`, in
/// parentheses, is an item that is left out.
#define TERN_ITEMS_(type, none, make, ...)                                                         \
    __extension__({                                                                                \
        TERN_PRAGMA_(GCC diagnostic push)                                                          \
        TERN_PRAGMA_(GCC diagnostic ignored "-Wshadow")                                            \
        TERN_PRAGMA_(GCC diagnostic ignored "-Wmissing-braces")                                    \
        type const list_[] = {TERN_ARGUMENTS_ none, __VA_ARGS__};                                  \
        TERN_PRAGMA_(GCC diagnostic pop)                                                           \
        make((int64_t)(sizeof list_ / sizeof list_[0]) - 1, list_ + 1);                            \
    })
#endif

#endif
