// SPDX-License-Identifier: Apache-2.0
#include "train/log/protobuf.h"

#include <string.h>
#include "base/bytes.h"

typedef enum wire_type { VARINT = 0, EIGHT_BYTES = 1, LENGTH = 2, FOUR_BYTES = 5 } wire_type;

static void add_varint(tern_log_bytes *to, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
        count++;
    } while (value);
    tern_log_add(to, bytes, count);
}

static void add_key(tern_log_bytes *to, int field, wire_type type)
{
    add_varint(to, (uint64_t)field << 3 | type);
}

static void add_word(tern_log_bytes *to, uint64_t word, int count)
{
    uint8_t bytes[8];
    put_uint(bytes, count, word);
    tern_log_add(to, bytes, (size_t)count);
}

void tern_pb_add_raw_double(tern_log_bytes *to, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    add_word(to, word, sizeof word);
}

void tern_pb_add_raw_float(tern_log_bytes *to, float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    add_word(to, word, sizeof word);
}

void tern_pb_add_int(tern_log_bytes *to, int field, int64_t value)
{
    add_key(to, field, VARINT);
    add_varint(to, (uint64_t)value);
}

void tern_pb_add_double(tern_log_bytes *to, int field, double value)
{
    add_key(to, field, EIGHT_BYTES);
    tern_pb_add_raw_double(to, value);
}

void tern_pb_add_float(tern_log_bytes *to, int field, float value)
{
    add_key(to, field, FOUR_BYTES);
    tern_pb_add_raw_float(to, value);
}

void tern_pb_add_bytes(tern_log_bytes *to, int field, const void *data, int64_t count)
{
    add_key(to, field, LENGTH);
    add_varint(to, (uint64_t)count);
    tern_log_add(to, data, (size_t)count);
}

void tern_pb_add_text(tern_log_bytes *to, int field, const char *text)
{
    tern_pb_add_bytes(to, field, text, (int64_t)strlen(text));
}

// ---- messages -----------------------------------------------------------------------------------

int64_t tern_pb_begin(tern_log_bytes *to, int field)
{
    add_key(to, field, LENGTH);
    return to->count;
}

// The length comes before the contents: these make way for it.
void tern_pb_end(tern_log_bytes *to, int64_t begun)
{
    if (to->failed)
        return;
    const int64_t count = to->count - begun;
    add_varint(to, (uint64_t)count);
    if (to->failed)
        return;
    uint8_t length[10];
    const size_t extra = (size_t)(to->count - begun - count);
    memcpy(length, to->data + begun + count, extra);
    memmove(to->data + begun + extra, to->data + begun, (size_t)count);
    memcpy(to->data + begun, length, extra);
}
