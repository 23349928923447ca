// SPDX-License-Identifier: Apache-2.0
// The one signal that the library sends, to itself and only when asked: a debugger stops there.
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef enum trap_setting { TRAP_NOT_READ, TRAP_OFF, TRAP_ON } trap_setting;

static _Atomic trap_setting setting;

static trap_setting read_setting(void)
{
    const char *wish = secure_getenv("TERN_TRAP");
    return wish && strcmp(wish, "1") == 0 ? TRAP_ON : TRAP_OFF;
}

void tern_trap(void)
{
    trap_setting now = atomic_load(&setting);
    if (now == TRAP_NOT_READ)
        atomic_store(&setting, now = read_setting());
    if (now == TRAP_ON)
        raise(SIGTRAP);
}
