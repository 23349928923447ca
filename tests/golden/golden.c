// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_FAMILIES 16
#define CHUNK        (1 << 18)

// A family as it is read: the arrays below have space for what is still to come.
typedef struct reader {
    char family[24];
    golden_file file;
    golden_case *cases;
    golden_word *words;
    golden_array *arrays;
    int case_count, word_count, array_count;
    char *text_end; // of the case's lines
    char *bytes;
    size_t nbytes, at;
} reader;

static reader families[MAX_FAMILIES];

static _Noreturn void stop(const char *family, const char *format, ...)
{
    va_list values;
    fprintf(stderr, "golden data %s: ", family);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputs("; scripts/golden.sh writes it anew\n", stderr);
    exit(1);
}

// ---- files -------------------------------------------------------------------------------------

// What the archive of a family holds, with a 0 behind.
static char *read_archive(const char *family, size_t *nbytes)
{
    const char *folder = getenv("TERN_GOLDEN");
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.gz", folder ? folder : GOLDEN_FOLDER, family);
    gzFile file = gzopen(path, "rb");
    if (!file)
        stop(family, "cannot open %s: %s", path, strerror(errno));
    char *bytes = NULL;
    int got = 0;
    *nbytes = 0;
    do {
        *nbytes += (size_t)got;
        bytes = realloc(bytes, *nbytes + CHUNK + 1);
        if (!bytes)
            stop(family, "no memory");
        got = gzread(file, bytes + *nbytes, CHUNK);
    } while (got > 0);
    int closed = gzclose(file);
    if (got < 0 || closed != Z_OK)
        stop(family, "%s.gz is damaged", family);
    bytes[*nbytes] = 0;
    return bytes;
}

uint64_t golden_hash(uint64_t before, const void *bytes, size_t nbytes)
{
    const unsigned char *byte = bytes;
    uint64_t hash = before ? before : UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void *allocate(const reader *r, size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        stop(r->family, "no memory");
    return memory;
}

// Checks the first line and takes the arrays from the end; returns the lines behind the first. The
// count of cases into `count`.
static char *take_head(reader *r, char *index, size_t length, int *count)
{
    char family[24];
    uint64_t hash;
    if (sscanf(index, "tern golden 1 %23[a-z]: %d cases, %zu bytes, 0x%" SCNx64 "\n", family, count,
               &r->nbytes, &hash) != 4 ||
        strcmp(family, r->family) != 0 || !strchr(index, '\n'))
        stop(r->family, "%s.gz begins otherwise than \"tern golden 1 %s: \"", r->family, r->family);
    char *rest = strchr(index, '\n') + 1, *end = index + length;
    if (r->nbytes > (size_t)(end - rest))
        stop(r->family, "%s.gz ends before its %zu bytes of arrays", r->family, r->nbytes);
    if (golden_hash(0, rest, (size_t)(end - rest)) != hash)
        stop(r->family, "%s.gz is damaged: its hash is 0x%016" PRIx64 " instead of 0x%016" PRIx64,
             r->family, golden_hash(0, rest, (size_t)(end - rest)), hash);
    end -= r->nbytes;
    r->bytes = allocate(r, r->nbytes + 1, 1); // aligned for every dtype
    memcpy(r->bytes, end, r->nbytes);
    *end = 0;
    return rest;
}

// ---- lines -------------------------------------------------------------------------------------

// Cuts at the first blank and returns what is behind it: "" where there is none.
static char *cut(char *text)
{
    char *blank = strchr(text, ' ');
    if (!blank)
        return text + strlen(text);
    *blank = 0;
    return blank + 1;
}

static void take_text(reader *r, golden_case *c, char *line)
{
    line += line[1] ? 2 : 1;
    if (!r->text_end) {
        c->text = line;
        r->text_end = line + strlen(line);
        return;
    }
    *r->text_end++ = '\n';
    memmove(r->text_end, line, strlen(line) + 1);
    r->text_end += strlen(r->text_end);
}

static tern_shape shape_of(char *sizes)
{
    tern_shape shape = {0};
    while (*sizes && shape.rank < TERN_MAX_RANK)
        shape.dim[shape.rank++] = strtoll(sizes, &sizes, 10);
    return shape;
}

static void take_array(reader *r, golden_case *c, char *line)
{
    golden_array *a = &r->arrays[r->array_count++];
    char *name = cut(line), *sizes = cut(name);
    *a = (golden_array){.name = name, .dtype = golden_dtype(line), .shape = shape_of(sizes)};
    if (a->dtype == TERN_DTYPE_UNSPECIFIED)
        stop(r->family, "case %s has a line that begins with %s", c->name, line);
    a->numel = tern_shape_numel(a->shape);
    size_t nbytes = (size_t)a->numel * (size_t)tern_dtype_size(a->dtype);
    if (nbytes > r->nbytes - r->at)
        stop(r->family, "%s of case %s goes past the end of the arrays", name, c->name);
    a->data = r->bytes + r->at;
    r->at += (nbytes + 7) / 8 * 8;
    c->array_count++;
}

static void take_line(reader *r, char *line)
{
    golden_case *c = &r->cases[r->case_count - 1];
    if (line[0] == '#' || line[0] == 0)
        return;
    if (strncmp(line, "case ", 5) == 0) {
        r->cases[r->case_count++] = (golden_case){.name = line + 5,
                                                  .text = "",
                                                  .words = r->words + r->word_count,
                                                  .arrays = r->arrays + r->array_count};
        r->text_end = NULL;
    } else if (r->case_count == 0) {
        stop(r->family, "a line before the first case: %s", line);
    } else if (line[0] == '>') {
        take_text(r, c, line);
    } else if (strncmp(line, "word ", 5) == 0) {
        char *value = cut(line + 5);
        r->words[r->word_count++] = (golden_word){line + 5, value};
        c->word_count++;
    } else {
        take_array(r, c, line);
    }
}

static void read_family(reader *r)
{
    size_t length, lines = 1;
    int count;
    char *index = read_archive(r->family, &length);
    char *line = take_head(r, index, length, &count);
    for (const char *c = line; *c; c++)
        lines += *c == '\n';
    r->cases = allocate(r, lines, sizeof *r->cases);
    r->words = allocate(r, lines, sizeof *r->words);
    r->arrays = allocate(r, lines, sizeof *r->arrays);
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        take_line(r, line);
    }
    if (r->case_count != count || r->at != r->nbytes)
        stop(r->family, "the index has %d cases and %zu bytes, its first line says %d and %zu",
             r->case_count, r->at, count, r->nbytes);
    r->file = (golden_file){r->cases, count};
}

// ---- asking ------------------------------------------------------------------------------------

const golden_file *golden_read(const char *family)
{
    for (int i = 0; i < MAX_FAMILIES; i++) {
        reader *r = &families[i];
        if (r->family[0] && strcmp(r->family, family) != 0)
            continue;
        if (!r->family[0]) {
            snprintf(r->family, sizeof r->family, "%s", family);
            read_family(r);
        }
        return &r->file;
    }
    stop(family, "more than %d families", MAX_FAMILIES);
}

const golden_case *golden_find(const char *family, const char *name)
{
    const golden_file *file = golden_read(family);
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->cases[i].name, name) == 0)
            return &file->cases[i];
    stop(family, "there is no case %s", name);
}

const char *golden_text(const golden_case *c, const char *word)
{
    for (int i = 0; i < c->word_count; i++)
        if (strcmp(c->words[i].name, word) == 0)
            return c->words[i].value;
    return NULL;
}

const golden_array *golden_find_array(const golden_case *c, const char *name)
{
    for (int i = 0; i < c->array_count; i++)
        if (strcmp(c->arrays[i].name, name) == 0)
            return &c->arrays[i];
    return NULL;
}

// A test may run in a locale with a decimal comma.
int golden_numbers(const golden_case *c, const char *word, double *values, int max_count)
{
    const char *text = golden_text(c, word);
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), before = uselocale(plain);
    int count = 0;
    for (char *end; text && *text; text = end) {
        double value = strtod(text, &end);
        if (end == text || count == max_count)
            stop(c->name, "the word %s is not %d numbers or fewer", word, max_count);
        values[count++] = value;
    }
    uselocale(before);
    freelocale(plain);
    return count;
}

double golden_number(const golden_case *c, const char *word, int place)
{
    double values[8] = {0};
    golden_numbers(c, word, values, 8);
    return values[place];
}

const void *golden_values(const golden_case *c, const char *name, tern_dtype dtype, int64_t numel)
{
    const golden_array *a = golden_find_array(c, name);
    if (!a || a->dtype != dtype || a->numel != numel)
        stop(c->name, "there are no %lld elements of %s by the name of %s", (long long)numel,
             tern_dtype_name(dtype), name);
    return a->data;
}

array golden_to_array(const golden_array *g)
{
    array a = array_new(g->dtype, g->shape);
    for (int64_t i = 0; i < a.numel; i++)
        a.data[i] = array_element(g->dtype, g->data, i);
    return a;
}

tern_dtype golden_dtype(const char *name)
{
    for (tern_dtype dtype = TERN_FLOAT32; dtype <= TERN_BOOL; dtype++)
        if (strcmp(tern_dtype_name(dtype), name) == 0)
            return dtype;
    return TERN_DTYPE_UNSPECIFIED;
}
