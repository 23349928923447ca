// SPDX-License-Identifier: Apache-2.0
// Which of the kept calls is the user's, and what is said of it.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/backtrace.h"
#include "base/debug_info.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"

#define STACK_BYTES ((size_t)4 << 20)

static _Atomic(const void *) plugin_code;

void tern_location_own(const void *code)
{
    atomic_store(&plugin_code, code);
}

// Where the object (a library, the program) that holds `code` begins; NULL where there is none.
static const void *object_of(const void *code)
{
    Dl_info info;
    return code && dladdr(code, &info) ? info.dli_fbase : NULL;
}

// ---- the library's own calls --------------------------------------------------------------------

typedef struct search {
    tern_debug_info *debug; // NULL without libdw
    const void *library;    // the object that this code is in
    const void *plugin;
    bool is_shared;   // libtern.so, which holds nothing else
    const char *unit; // the source of this file, as it was compiled; NULL where that is not known
} search;

static const char this_file[] = "base/location.c";

// Is the file of this path called `name`, or `name` and a version?
static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, name, strlen(name)) == 0;
}

static void search_begin(search *s)
{
    Dl_info info;
    const void *here = (const void *)(uintptr_t)tern_location;
    bool known = dladdr(here, &info);
    s->debug = tern_debug_info_open();
    s->library = known ? info.dli_fbase : NULL;
    s->plugin = object_of(atomic_load(&plugin_code));
    s->is_shared = known && is_called(info.dli_fname, "libtern.so");
    s->unit = s->debug ? tern_debug_info_find(s->debug, here).unit : NULL;
}

// The folders that the library's sources lie in, beside that of this file.
static bool is_component(const char *path)
{
    static const char *const components[] = {
        "base/", "device/", "tensor/", "autograd/", "cpu/",  "cuda/",     "ops/",   "state/",
        "nn/",   "models/", "optim/",  "io/",       "data/", "parallel/", "graph/", "train/"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (strncmp(path, components[i], strlen(components[i])) == 0)
            return true;
    return false;
}

static bool is_own_unit(const search *s, const char *unit)
{
    size_t length = strlen(s->unit), end = sizeof this_file - 1;
    if (length < end || strcmp(s->unit + length - end, this_file) != 0)
        return false;
    return strncmp(unit, s->unit, length - end) == 0 && is_component(unit + length - end);
}

// Of a call in a program that the library is a part of. Without debug information of the library
// its functions cannot be told from those of a program that has none either.
static bool is_own_code(const search *s, const void *code)
{
    tern_source source = s->debug ? tern_debug_info_find(s->debug, code) : (tern_source){0};
    if (source.function && strncmp(source.function, "tern_", 5) == 0)
        return true;
    if (!s->unit)
        return !source.unit;
    return source.unit && is_own_unit(s, source.unit);
}

// The C library's calls, which start programs and threads, are nobody's mistake either.
static bool is_passed_over(const search *s, const void *code)
{
    Dl_info info;
    if (!dladdr(code, &info))
        return false;
    if (info.dli_fbase == s->library && !s->is_shared)
        return is_own_code(s, code);
    return info.dli_fbase == s->library || info.dli_fbase == s->plugin ||
           is_called(info.dli_fname, "libc.so");
}

// ---- what is said -------------------------------------------------------------------------------

static void write_text(char *buffer, size_t size, const char *format, ...) TERN_PRINTF_(3, 4);
static void write_text(char *buffer, size_t size, const char *format, ...)
{
    char text[TERN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(text);
    length = length < size ? length : size - 1;
    memcpy(buffer, text, length);
    buffer[length] = 0;
}

static void describe(const search *s, const void *code, char *buffer, size_t size)
{
    Dl_info info = {0};
    tern_source source = s->debug ? tern_debug_info_find(s->debug, code) : (tern_source){0};
    const char *remedy = s->debug ? "compile with -g" : "install libdw";
    bool known = dladdr(code, &info);
    if (known && !source.function)
        source.function = info.dli_sname;
    if (source.file && source.function)
        write_text(buffer, size, "%s (%s:%d)", source.function, source.file, source.line);
    else if (source.file)
        write_text(buffer, size, "%s:%d", source.file, source.line);
    else if (!known)
        write_text(buffer, size, "code that is no longer loaded");
    else if (source.function)
        write_text(buffer, size, "%s in %s (%s to see the line)", source.function, info.dli_fname,
                   remedy);
    else
        write_text(buffer, size, "%s+0x%zx (%s to see the line)", info.dli_fname,
                   (size_t)((const char *)code - (const char *)info.dli_fbase), remedy);
}

// ---- the search ---------------------------------------------------------------------------------

typedef struct request {
    const void *const *frames;
    int count;
    char *buffer; // of `size` bytes
    size_t size;
} request;

static void *resolve(void *user)
{
    const request *r = user;
    search s;
    int i = 0;
    search_begin(&s);
    while (i < r->count && is_passed_over(&s, r->frames[i]))
        i++;
    if (i < r->count)
        describe(&s, r->frames[i], r->buffer, r->size);
    else
        write_text(r->buffer, r->size, "an unknown line (%s to see it)",
                   s.debug ? "compile with -g" : "install libdw");
    tern_debug_info_close(s.debug);
    return NULL;
}

// libdw takes more stack than a thread of the program may have.
static bool resolve_in_a_thread(request *r)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes))
        return false;
    bool started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                   tern_thread_start(&thread, &attributes, resolve, r, NULL);
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

bool tern_location(const void *const *frames, int count, char *buffer, size_t size)
{
    request r = {frames, count, buffer, size};
    if (size > 0)
        buffer[0] = 0;
    if (size == 0 || count == 0 || tern_forked())
        return false;
    int saved = errno;
    if (!resolve_in_a_thread(&r))
        write_text(buffer, size, "an unknown line (no thread can be started to look it up)");
    errno = saved;
    return true;
}
