// SPDX-License-Identifier: Apache-2.0
// INSTRUMENTED: 1 where a sanitizer watches every access, which takes up to forty times as long,
// else 0. What is computed was then measured in other builds; a sweep takes less of each family.
#ifndef TERN_TESTS_SUPPORT_INSTRUMENTED_H
#define TERN_TESTS_SUPPORT_INSTRUMENTED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifndef INSTRUMENTED
#define INSTRUMENTED 0
#endif

#endif
