// SPDX-License-Identifier: Apache-2.0
// Memory that is kept but not to be touched: AddressSanitizer reports who does. Elsewhere nothing.
#ifndef TERN_SRC_BASE_POISON_H
#define TERN_SRC_BASE_POISON_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define TERN_POISON(memory, nbytes)   ASAN_POISON_MEMORY_REGION(memory, nbytes)
#define TERN_UNPOISON(memory, nbytes) ASAN_UNPOISON_MEMORY_REGION(memory, nbytes)
#else
#define TERN_POISON(memory, nbytes)   ((void)(memory), (void)(nbytes))
#define TERN_UNPOISON(memory, nbytes) ((void)(memory), (void)(nbytes))
#endif

#endif
