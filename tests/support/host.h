// SPDX-License-Identifier: Apache-2.0
// What the host of a library has set in its thread, and whether a call left it alone: rounding
// mode, flushing of subnormals, traps, exception flags, errno and locale.
#ifndef TERN_TESTS_SUPPORT_HOST_H
#define TERN_TESTS_SUPPORT_HOST_H

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

typedef struct host_state {
    unsigned control; // MXCSR or FPCR, without the exception flags
    int rounding;
    locale_t thread_locale;
    char locale[256];
} host_state;

#define HOST_ERRNO 4711

#define HOST_FLUSH_IS_KNOWN 1
#if defined(__SSE__)
#define HOST_FLUSH_BITS 0x8040u // FTZ and DAZ
static inline unsigned host_control(void)
{
    return __builtin_ia32_stmxcsr() & ~0x3Fu;
}
static inline void host_flush(int on)
{
    unsigned control = __builtin_ia32_stmxcsr() & ~HOST_FLUSH_BITS;
    __builtin_ia32_ldmxcsr(on ? control | HOST_FLUSH_BITS : control);
}
#elif defined(__aarch64__)
static inline unsigned host_control(void)
{
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
}
static inline void host_flush(int on)
{
    unsigned long control = host_control() & ~(1ul << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(on ? control | 1ul << 24 : control));
}
#else
#undef HOST_FLUSH_IS_KNOWN
#define HOST_FLUSH_IS_KNOWN 0
static inline unsigned host_control(void)
{
    return 0;
}
static inline void host_flush(int on)
{
    (void)on;
}
#endif

// Before a call: what is set; errno gets a value of its own and every flag is raised.
static inline host_state host_before(void)
{
    host_state s = {.rounding = fegetround(), .thread_locale = uselocale((locale_t)0)};
    strncpy(s.locale, setlocale(LC_ALL, NULL), sizeof s.locale - 1);
    s.control = host_control();
    feraiseexcept(FE_ALL_EXCEPT);
    errno = HOST_ERRNO;
    return s;
}

// After it: what is not as it was, or NULL. Flags may be raised by arithmetic, but never cleared.
static inline const char *host_difference(const host_state *before)
{
    int error = errno;
    const char *difference = NULL;
    if (error != HOST_ERRNO)
        difference = "errno";
    else if (fegetround() != before->rounding)
        difference = "the rounding mode";
    else if (host_control() != before->control)
        difference = "the flushing of subnormals, or traps";
    else if (fetestexcept(FE_ALL_EXCEPT) != FE_ALL_EXCEPT)
        difference = "an exception flag";
    else if (uselocale((locale_t)0) != before->thread_locale)
        difference = "the thread's locale";
    else if (strcmp(setlocale(LC_ALL, NULL), before->locale) != 0)
        difference = "the locale";
    errno = error;
    return difference;
}

#endif
