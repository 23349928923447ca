// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every other header needs: export marks and the version.
#ifndef TERN_BASE_H
#define TERN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#if defined(__cplusplus) && defined(__clang__)
// A struct of tern_sizes has defaults in C++; it comes back as in C.
#define TERN_BEGIN_DECLS                                                                           \
    _Pragma("clang diagnostic push")                                                               \
        _Pragma("clang diagnostic ignored \"-Wreturn-type-c-linkage\"") extern "C"                 \
    {
#define TERN_END_DECLS                                                                             \
    }                                                                                              \
    _Pragma("clang diagnostic pop")
#elif defined(__cplusplus)
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
/// alive. Live modules, optimizers and retained tensors stay the caller's. Later calls start again
/// from nothing. No other thread may be inside the library; in a hook, module, dataset, visitor or
/// backward function, and while workers of a loader are at work, it does nothing but raise
/// TERN_ERR_STATE.
///
/// fork: the child of a process that uses tern has none of its threads. Every call there that
/// computes, allocates or draws fails at once with TERN_ERR_STATE; the child may free what it has,
/// look at and print errors, exec and exit. The log is silent there, and what lies in an allocator
/// of the program's own stays. A child forked before the first call, or after tern_shutdown, is
/// free to do everything. The parent notices nothing.
TERN_API void tern_shutdown(void);

TERN_END_DECLS

#endif
