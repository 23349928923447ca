// SPDX-License-Identifier: Apache-2.0
// What the public headers declare, for tests that ask for a row of each. Include <cmocka.h> before.
#ifndef TERN_TESTS_SUPPORT_DECLARED_H
#define TERN_TESTS_SUPPORT_DECLARED_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef void declared_fn(const char *name, void *user);

static inline bool declared_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

// The "tern_NAME" before the first parenthesis, as NAME; false where there is none.
static inline bool declared_name(const char *line, char *name, size_t size)
{
    const char *paren = strchr(line, '('), *start = paren;
    while (start && start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    if (!start || strncmp(start, "tern_", 5) != 0)
        return false;
    snprintf(name, size, "%.*s", (int)(paren - start - 5), start + 5);
    return true;
}

// Calls visit with each NAME in "TERN_API .. RETURNStern_NAME(" of include/tern/HEADER that ends
// with `end`, without the "_with" or "_new" there; how many there are. nn.h is all of nn/*.h.
static inline int each_declared(const char *include_dir, const char *header, const char *returns,
                                const char *end, declared_fn *visit, void *user)
{
    char path[1024], line[512], name[128], before[160], family[128];
    int found = 0;
    snprintf(path, sizeof path, "%s/tern/%s", include_dir, header);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "#include <tern/%127[^>]", family) == 1 && strncmp(family, "nn/", 3) == 0)
            found += each_declared(include_dir, family, returns, end, visit, user);
        if (strncmp(line, "TERN_API", 8) != 0 || !declared_name(line, name, sizeof name))
            continue;
        snprintf(before, sizeof before, "%stern_%s(", returns, name);
        if (!strstr(line, before) || !declared_ends_with(name, end))
            continue;
        const char *const cut[] = {"_with", "_new"};
        for (int i = 0; i < 2; i++)
            if (declared_ends_with(name, cut[i]))
                name[strlen(name) - strlen(cut[i])] = 0;
        visit(name, user);
        found++;
    }
    fclose(file);
    return found;
}

#endif
