// SPDX-License-Identifier: Apache-2.0
// The bytes of a pickle.
#include <zlib.h>
#include "base/text.h"
#include "io/pickle.h"

tern_status tern_pickle_bad(const tern_pickle *p, const char *format, ...)
{
    char words[TERN_MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    tern_text_format(words, sizeof words, format, list);
    va_end(list);
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s: %s %s", p->source.file->op,
                            p->source.file->path, p->name, words);
}

// ---- bytes --------------------------------------------------------------------------------------

static tern_status fetch(tern_pickle *p)
{
    tern_pickle_source *s = &p->source;
    size_t wanted = sizeof s->buffer;
    if (s->left < (int64_t)wanted)
        wanted = (size_t)s->left;
    if (wanted == 0)
        return tern_pickle_bad(p, "ends at byte %lld without STOP", (long long)p->read);
    TERN_TRY(tern_file_read_at(s->file, s->at, s->buffer, wanted));
    s->at += (int64_t)wanted;
    s->left -= (int64_t)wanted;
    s->crc = (uint32_t)crc32(s->crc, s->buffer, (uInt)wanted);
    s->bytes = s->buffer;
    s->next = 0;
    s->have = wanted;
    return TERN_OK;
}

tern_status tern_pickle_byte(tern_pickle *p, unsigned char *byte)
{
    if (p->source.next == p->source.have)
        TERN_TRY(fetch(p));
    *byte = p->source.bytes[p->source.next++];
    p->read++;
    return TERN_OK;
}

tern_status tern_pickle_integer(tern_pickle *p, int count, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < count; i++) {
        unsigned char byte;
        TERN_TRY(tern_pickle_byte(p, &byte));
        *value |= (uint64_t)byte << (8 * i);
    }
    return TERN_OK;
}
