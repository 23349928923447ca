// SPDX-License-Identifier: Apache-2.0
// Opens the CUDA backend the first time it is asked for, and remembers why there is none.
#include "device/plugin.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "base/backtrace.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/mem.h"
#include "device/abi.h"
#include "device/plugin_path.h"
#include "device/visible.h"

#define PATH_SIZE   4096
#define REASON_SIZE 1024

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const tern_backend *cuda_backend;
static char reason[REASON_SIZE], visible[REASON_SIZE / 2];

static const tern_host_api host = {
    .error_raise = tern_error_raise_v,
    .log = tern_log_send_v,
    .mem_alloc = tern_mem_alloc,
    .mem_free = tern_mem_free,
};

static void set_reason(const char *format, ...) TERN_PRINTF_(1, 2);
static void set_reason(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
}

// Without a driver the plugin, which brings the CUDA libraries, is not even looked for.
static bool has_driver(void)
{
    if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL))
        return true;
    set_reason("no NVIDIA driver (libcuda.so.1)");
    return false;
}

// Where the plugin may stand beside this library, or beside a program that was linked with it: in a
// build and where it is installed.
static const char *const beside[] = {"tern/libtern-cuda.so", "src/cuda/libtern-cuda.so",
                                     "libtern-cuda.so"};

// This library, or the program that it is a part of; "" where that is not known. Found when it is
// loaded: a path from the working directory leads elsewhere later.
static char own_path[PATH_MAX];

// A privileged program (setuid) trusts an absolute path only: what else the loader knows, whoever
// started the program may have chosen.
__attribute__((constructor)) static void find_own_path(void)
{
    Dl_info info;
    struct link_map *object;
    int saved = errno;
    bool known = dladdr1(&host, &info, (void **)&object, RTLD_DL_LINKMAP);
    if (known && (object->l_name[0] == '/' || !getauxval(AT_SECURE)))
        known = realpath(object->l_name[0] ? object->l_name : "/proc/self/exe", own_path);
    else
        known = false;
    if (!known)
        own_path[0] = '\0';
    errno = saved;
}

static bool own_directory(char *path)
{
    const char *slash = strrchr(own_path, '/');
    if (!slash || slash - own_path >= PATH_SIZE / 2)
        return false;
    memcpy(path, own_path, (size_t)(slash - own_path) + 1);
    path[slash - own_path + 1] = '\0';
    return true;
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file)
        fclose(file);
    return file;
}

// Where the plugin is; false when it is nowhere.
static bool find_plugin(char *path)
{
    if (own_directory(path)) {
        size_t length = strlen(path);
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(path + length, PATH_SIZE - length, "%s", beside[i]);
            if (exists(path))
                return true;
        }
    }
    snprintf(path, PATH_SIZE, "%s", TERN_PLUGIN_INSTALLED);
    return exists(path);
}

static bool choose_plugin(char *path)
{
    const char *wish = secure_getenv("TERN_CUDA_PLUGIN");
    if (wish && *wish) {
        snprintf(path, PATH_SIZE, "%s", wish);
        return true;
    }
    if (!has_driver())
        return false;
    if (find_plugin(path))
        return true;
    set_reason("the CUDA backend was not built or not installed (libtern-cuda.so)");
    return false;
}

static tern_plugin_entry *open_plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        set_reason("%s", dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, TERN_PLUGIN_ENTRY);
    tern_plugin_entry *entry;
    memcpy(&entry, &symbol, sizeof entry);
    tern_location_own(symbol);
    if (!entry)
        set_reason("%.512s is not a backend of tern: it has no %s", path, TERN_PLUGIN_ENTRY);
    return entry;
}

static void find_and_open(void)
{
    char path[PATH_SIZE];
    tern_plugin_entry *entry = choose_plugin(path) ? open_plugin(path) : NULL;
    if (!entry)
        return;
    const tern_backend *backend = entry(TERN_ABI_HASH, &host);
    if (!backend) {
        set_reason("%.512s belongs to another version of tern", path);
        return;
    }
    const int count = backend->device->count();
    tern_visible_describe(visible, sizeof visible, count);
    if (count < 1) {
        set_reason("%s%s", backend->cuda->reason(), visible);
        return;
    }
    set_reason("%d CUDA device%s%s", count, count == 1 ? "" : "s", visible);
    cuda_backend = backend;
}

static void load(void)
{
    int cancel_state = tern_cancel_disable();
    find_and_open();
    tern_cancel_restore(cancel_state);
}

const tern_backend *tern_cuda_backend(void)
{
    pthread_once(&once, load);
    return cuda_backend;
}

const char *tern_cuda_visible(void)
{
    return tern_cuda_backend() ? visible : "";
}

const char *tern_cuda_reason(void)
{
    pthread_once(&once, load);
    return reason;
}
