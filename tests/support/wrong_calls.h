// SPDX-License-Identifier: Apache-2.0
// For tests that call functions with NULL and arrays that are too short, of which gcc warns.
#ifndef TERN_TESTS_SUPPORT_WRONG_CALLS_H
#define TERN_TESTS_SUPPORT_WRONG_CALLS_H

#if __has_attribute(access)
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif

#endif
