// SPDX-License-Identifier: Apache-2.0
// libdw's own headers are not needed to build: what is used of them is declared here.
#include "base/debug_info.h"
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- libdw and libdwfl, as declared in <elfutils/libdw.h> and <elfutils/libdwfl.h> --------------

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct Elf Elf;
typedef uint64_t Dwarf_Addr;

typedef struct Dwarf_Die {
    void *addr;
    void *cu;
    void *abbrev;
    long padding;
} Dwarf_Die;

typedef struct Dwarf_Attribute {
    unsigned code, form;
    unsigned char *value;
    void *cu;
} Dwarf_Attribute;

typedef struct Dwfl_Callbacks {
    int (*find_elf)(Dwfl_Module *, void **, const char *, Dwarf_Addr, char **, Elf **);
    int (*find_debuginfo)(Dwfl_Module *, void **, const char *, Dwarf_Addr, const char *,
                          const char *, uint32_t, char **);
    int (*section_address)(Dwfl_Module *, void **, const char *, Dwarf_Addr, const char *, uint32_t,
                           const void *, Dwarf_Addr *);
    char **debuginfo_path;
} Dwfl_Callbacks;

#define DW_AT_comp_dir            0x1b
#define DW_TAG_inlined_subroutine 0x1d
#define DW_TAG_subprogram         0x2e

// FUNCTION(result, name, parameters)
#define LIBDW(FUNCTION)                                                                            \
    FUNCTION(Dwfl *, dwfl_begin, (const Dwfl_Callbacks *))                                         \
    FUNCTION(void, dwfl_end, (Dwfl *))                                                             \
    FUNCTION(int, dwfl_linux_proc_report, (Dwfl *, pid_t))                                         \
    FUNCTION(int, dwfl_linux_proc_find_elf,                                                        \
             (Dwfl_Module *, void **, const char *, Dwarf_Addr, char **, Elf **))                  \
    FUNCTION(int, dwfl_report_end,                                                                 \
             (Dwfl *, int (*)(Dwfl_Module *, void *, const char *, Dwarf_Addr, void *), void *))   \
    FUNCTION(Dwfl_Module *, dwfl_addrmodule, (Dwfl *, Dwarf_Addr))                                 \
    FUNCTION(const char *, dwfl_module_addrname, (Dwfl_Module *, Dwarf_Addr))                      \
    FUNCTION(Dwarf_Die *, dwfl_module_addrdie, (Dwfl_Module *, Dwarf_Addr, Dwarf_Addr *))          \
    FUNCTION(Dwarf_Die *, dwfl_module_nextcu, (Dwfl_Module *, Dwarf_Die *, Dwarf_Addr *))          \
    FUNCTION(int, dwarf_haspc, (Dwarf_Die *, Dwarf_Addr))                                          \
    FUNCTION(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die *, Dwarf_Addr))                            \
    FUNCTION(const char *, dwarf_linesrc, (Dwarf_Line *, void *, void *))                          \
    FUNCTION(int, dwarf_lineno, (Dwarf_Line *, int *))                                             \
    FUNCTION(Dwarf_Attribute *, dwarf_attr, (Dwarf_Die *, unsigned, Dwarf_Attribute *))            \
    FUNCTION(const char *, dwarf_formstring, (Dwarf_Attribute *))                                  \
    FUNCTION(int, dwarf_getscopes, (Dwarf_Die *, Dwarf_Addr, Dwarf_Die **))                        \
    FUNCTION(int, dwarf_tag, (Dwarf_Die *))                                                        \
    FUNCTION(const char *, dwarf_diename, (Dwarf_Die *))

#define DECLARE(result, name, parameters) result(*name) parameters;
#define NAME(result, name, parameters)    #name,

typedef struct libdw {
    LIBDW(DECLARE)
} libdw;

static const char *const names[] = {LIBDW(NAME)};

// ---- a session ----------------------------------------------------------------------------------

struct tern_debug_info {
    libdw call;
    Dwfl_Callbacks callbacks;
    Dwfl *session;
};

// Stands for libdw's own search, which may ask servers (DEBUGINFOD_URLS): what the file itself does
// not have stays unknown.
static int find_nothing(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                        const char *file, const char *link, uint32_t crc, char **found)
{
    (void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
    *found = NULL;
    return -1;
}

// The library stays open: a second error finds it there.
static bool open_libdw(libdw *call)
{
    void *library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol)
            return false;
        memcpy((char *)call + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return library != NULL;
}

tern_debug_info *tern_debug_info_open(void)
{
    tern_debug_info *info = calloc(1, sizeof *info);
    if (!info || !open_libdw(&info->call)) {
        free(info);
        return NULL;
    }
    info->callbacks.find_elf = info->call.dwfl_linux_proc_find_elf;
    info->callbacks.find_debuginfo = find_nothing;
    info->session = info->call.dwfl_begin(&info->callbacks);
    if (!info->session || info->call.dwfl_linux_proc_report(info->session, getpid()) ||
        info->call.dwfl_report_end(info->session, NULL, NULL)) {
        tern_debug_info_close(info);
        return NULL;
    }
    return info;
}

void tern_debug_info_close(tern_debug_info *info)
{
    if (info && info->session)
        info->call.dwfl_end(info->session);
    free(info);
}

// The function as it is written, also where the compiler put it into its caller.
static const char *function_at(const libdw *call, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    const char *name = NULL;
    int count = call->dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < count && !name; i++) {
        int tag = call->dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            name = call->dwarf_diename(&scopes[i]);
    }
    free(scopes);
    return name;
}

// The compilation unit of an address. Not every compiler writes the table that it is looked up in;
// then every unit is asked.
static Dwarf_Die *unit_at(const libdw *call, Dwfl_Module *module, Dwarf_Addr address,
                          Dwarf_Addr *bias)
{
    Dwarf_Die *unit = call->dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    do
        unit = call->dwfl_module_nextcu(module, unit, bias);
    while (unit && call->dwarf_haspc(unit, address - *bias) <= 0);
    return unit;
}

static const char *folder_of(const libdw *call, Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    return call->dwarf_formstring(call->dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

// libdw puts the folder of the compilation in front of what the compiler was given.
static const char *as_given(const char *file, const char *folder)
{
    size_t length = folder ? strlen(folder) : 0;
    bool inside = length > 0 && strncmp(file, folder, length) == 0 && file[length] == '/';
    return inside ? file + length + 1 : file;
}

// A unit is only known by a line that it has there: libdw gives the nearest one for code without
// debug information between others.
tern_source tern_debug_info_find(tern_debug_info *info, const void *code)
{
    const libdw *call = &info->call;
    const Dwarf_Addr address = (Dwarf_Addr)(uintptr_t)code;
    tern_source found = {0};
    Dwfl_Module *module = call->dwfl_addrmodule(info->session, address);
    if (!module)
        return found;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = unit_at(call, module, address, &bias);
    Dwarf_Line *line = unit ? call->dwarf_getsrc_die(unit, address - bias) : NULL;
    const char *file = line ? call->dwarf_linesrc(line, NULL, NULL) : NULL;
    if (file && call->dwarf_lineno(line, &found.line) == 0) {
        found.file = as_given(file, folder_of(call, unit));
        found.unit = call->dwarf_diename(unit);
        found.function = function_at(call, unit, address - bias);
    }
    if (!found.function)
        found.function = call->dwfl_module_addrname(module, address);
    return found;
}
