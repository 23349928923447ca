// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every other header needs: export marks, version, and the options mechanism.
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
#ifndef TERN_BASE_H
#define TERN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tern/cpp.h>

#if defined(__GNUC__)
/// Marks what the library exports.
#define TERN_API __attribute__((visibility("default")))
/// The result must be looked at: it says whether the call worked, or is all that the call is for.
#define TERN_NODISCARD __attribute__((warn_unused_result))
/// The words from `first` on are printed by the format `words`.
#define TERN_PRINTF_(words, first) __attribute__((__format__(__printf__, words, first)))
#if __has_attribute(access)
/// The call reads as many elements of parameter `array` as parameter `count` says, so that the
/// compiler warns of an array that has fewer.
#define TERN_READS_(array, count) __attribute__((access(read_only, array, count)))
/// Likewise a call that writes them.
#define TERN_WRITES_(array, count) __attribute__((access(write_only, array, count)))
#else
/// Other compilers do not count.
#define TERN_READS_(array, count)
/// Likewise.
#define TERN_WRITES_(array, count)
#endif
#else
#error "tern needs gcc or clang"
#endif

#ifdef __cplusplus
#define TERN_BEGIN_DECLS extern "C" {
#define TERN_END_DECLS   }
#else
/// Declarations for C++ programs begin here.
#define TERN_BEGIN_DECLS
/// Declarations for C++ programs end here.
#define TERN_END_DECLS
#endif

/// `word` and the line make a name, so that one block that has a guard may stand inside another.
#define TERN_LINE_NAME_(word) TERN_NAME_AT_(word, __LINE__)
/// The line is a number from here on.
#define TERN_NAME_AT_(word, line) TERN_NAME_JOIN_(word, line)
/// One word of two.
#define TERN_NAME_JOIN_(word, line) word##line##_

/// A pragma inside a macro.
#define TERN_PRAGMA_(words) _Pragma(#words)
// -Wshadow: the options of a call inside the options of another are inside its block.
// -Wmissing-braces: `.stride = 2` gives the first size of a pair (pair.h).
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

#ifndef __cplusplus
/// Calls `function_with(&options)`, options being the defaults overridden by the caller's words:
/// `initialiser` is both, in parentheses. The defaults end with `.reserved_ = 0`, so that words
/// without a name fill the fields behind it. C++ takes these `fields` and the words (cpp.h).
#define TERN_WITH_(function, fields, initialiser, ...)                                             \
    __extension__({                                                                                \
        TERN_OPTIONS_BEGIN_                                                                        \
        TERN_NAMED_BEHIND_(TERN_FIRST_ fields, __VA_ARGS__)                                        \
        function##_options options_ = {TERN_WORDS_ initialiser};                                   \
        TERN_OPTIONS_END_                                                                          \
        function##_with(&options_);                                                                \
    })

/// A value behind those that a call takes in order would set whichever option comes first; the
/// argument there has to begin with a dot. `kind` is the macro of cpp.h that counts them.
#define TERN_NAMED_BEHIND_(kind, ...) TERN_NAMED_BEHIND_AT_(kind, __VA_ARGS__)
/// The kind is a word of its own from here on.
#define TERN_NAMED_BEHIND_AT_(kind, ...)                                                           \
    _Static_assert(TERN_BEHIND_##kind(__VA_ARGS__, , , , , ),                                      \
                   "too many arguments: options are given by name, as in .stride = 2");
/// Whether an argument of a macro is none, or begins with a dot.
#define TERN_IS_NAMED_(argument)                                                                   \
    (sizeof(#argument) == 1 || __builtin_strncmp(#argument, ".", 1) == 0)
/// No value by position.
#define TERN_BEHIND_TERN_FIELDS_0_(a, ...) TERN_IS_NAMED_(a)
/// Behind one.
#define TERN_BEHIND_TERN_FIELDS_1_(a, b, ...) TERN_IS_NAMED_(b)
/// Behind two.
#define TERN_BEHIND_TERN_FIELDS_2_(a, b, c, ...) TERN_IS_NAMED_(c)
/// Behind three.
#define TERN_BEHIND_TERN_FIELDS_3_(a, b, c, d, ...) TERN_IS_NAMED_(d)
/// Behind four.
#define TERN_BEHIND_TERN_FIELDS_4_(a, b, c, d, e, ...) TERN_IS_NAMED_(e)
/// Behind one that may be left out.
#define TERN_BEHIND_TERN_MAYBE_1_(a, b, ...) (TERN_IS_NAMED_(a) || TERN_IS_NAMED_(b))
/// Behind two that may be left out.
#define TERN_BEHIND_TERN_MAYBE_2_(a, b, c, ...)                                                    \
    (TERN_BEHIND_TERN_MAYBE_1_(a, b, ) || TERN_IS_NAMED_(c))
/// Behind one and one that may be left out.
#define TERN_BEHIND_TERN_FIELDS_1_MAYBE_1_(a, b, c, ...) TERN_BEHIND_TERN_MAYBE_1_(b, c, )
/// Behind two and one that may be left out.
#define TERN_BEHIND_TERN_FIELDS_2_MAYBE_1_(a, b, c, d, ...) TERN_BEHIND_TERN_MAYBE_1_(c, d, )
/// Behind data, which may be several arguments, `(float[]){1` and `2}`.
#define TERN_BEHIND_TERN_FIELDS_2_DATA_(a, ...) true
#endif
/// The first of `(a, b)`.
#define TERN_FIRST_(a, ...) a
/// Takes the parentheses from `TERN_WORDS_ (a, b)`.
#define TERN_WORDS_(...) __VA_ARGS__

/// Passes a required value through the function of its type, and the words after it as they are:
/// where an initialiser would take the 2 of `tern_zeros(2, 3)` for a rank, the call does not
/// compile; nor does one that leaves a required value out.
#define TERN_REQUIRED_1_(of_a, a, ...) tern_required_##of_a##_(a), __VA_ARGS__
/// Likewise for two.
#define TERN_REQUIRED_2_(of_a, of_b, a, ...)                                                       \
    tern_required_##of_a##_(a), TERN_REQUIRED_1_(of_b, __VA_ARGS__)
/// Likewise for three.
#define TERN_REQUIRED_3_(of_a, of_b, of_c, a, ...)                                                 \
    tern_required_##of_a##_(a), TERN_REQUIRED_2_(of_b, of_c, __VA_ARGS__)
/// Likewise for four.
#define TERN_REQUIRED_4_(of_a, of_b, of_c, of_d, a, ...)                                           \
    tern_required_##of_a##_(a), TERN_REQUIRED_3_(of_b, of_c, of_d, __VA_ARGS__)

/// Defines the function that takes a required value of a type, and returns it.
#define TERN_REQUIRED_TYPE_(name, type)                                                            \
    static inline type tern_required_##name##_(type value)                                         \
    {                                                                                              \
        return value;                                                                              \
    }
TERN_REQUIRED_TYPE_(int64, int64_t)
TERN_REQUIRED_TYPE_(double, double)
TERN_REQUIRED_TYPE_(text, const char *)

#ifndef __cplusplus
/// `pointer`, which is of that type or NULL: another one is an error, also for compilers that only
/// warn.
#define TERN_POINTER_(type, pointer) _Generic((pointer), type : (pointer), void * : (pointer))
#else
/// C++ takes no other pointer.
#define TERN_POINTER_(type, pointer) (pointer)
#endif

/// The version of the headers: its first number.
#define TERN_VERSION_MAJOR 0
/// Its second number.
#define TERN_VERSION_MINOR 1
/// Its third number.
#define TERN_VERSION_PATCH 0
/// The version as one number that grows, for `#if`.
#define TERN_VERSION_NUMBER                                                                        \
    (TERN_VERSION_MAJOR * 1000000 + TERN_VERSION_MINOR * 1000 + TERN_VERSION_PATCH)
/// True when the headers are of this version or a later one.
#define TERN_CHECK_VERSION(major, minor, patch)                                                    \
    (TERN_VERSION_NUMBER >= (major)*1000000 + (minor)*1000 + (patch))

TERN_BEGIN_DECLS

/// Frees a `user` that an object kept for a callback: called once, when the object lets go of it,
/// on the thread that does so, with cancellation disabled. It must not use that object.
typedef void tern_free_fn(void *user);

/// The version of the library that runs, for example "0.1.0". Static storage; never NULL. Any
/// thread may ask.
TERN_API const char *tern_version(void);

/// Joins the worker threads and frees what the process holds: caches, default generators, the
/// calling thread's scopes, and all of the CUDA devices on which no tensor, stream or graph is
/// alive. Live modules, optimizers and retained tensors stay the caller's.
/// Later calls start again from nothing. No other thread may be inside the library; in a hook,
/// module, dataset, visitor or backward function it does nothing but raise TERN_ERR_STATE.
///
/// fork: the child of a process that uses tern has none of its threads. Every call there that
/// computes, allocates or draws fails at once with TERN_ERR_STATE; the child may free what it has,
/// look at and print errors, exec and exit. The log is silent there, and what lies in an allocator
/// of the program's own stays. A child forked before the first call, or after tern_shutdown, is
/// free to do everything. The parent notices nothing.
TERN_API void tern_shutdown(void);

TERN_END_DECLS

#endif
