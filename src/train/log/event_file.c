// SPDX-License-Identifier: Apache-2.0
#include "train/log/event_file.h"

#include "base/bytes.h"
#include "base/crc32c.h"
#include "train/log/protobuf.h"

// Bytes before and behind the data of a record.
#define HEAD 12
#define TAIL 4

enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SESSION = 7 };

static uint32_t masked(const void *data, size_t count)
{
    const uint32_t crc = tern_crc32c(0, data, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

int64_t tern_event_begin(tern_log_bytes *to, double time, int64_t step)
{
    static const uint8_t head[HEAD] = {0};
    tern_log_add(to, head, sizeof head);
    const int64_t begun = to->count;
    tern_pb_add_double(to, EVENT_TIME, time);
    if (step)
        tern_pb_add_int(to, EVENT_STEP, step);
    return begun;
}

void tern_event_end(tern_log_bytes *to, int64_t begun)
{
    uint8_t tail[TAIL];
    if (to->failed)
        return;
    const size_t count = (size_t)(to->count - begun);
    uint8_t *head = to->data + begun - HEAD;
    put_uint(head, 8, count);
    put_uint(head + 8, 4, masked(head, 8));
    put_uint(tail, 4, masked(to->data + begun, count));
    tern_log_add(to, tail, sizeof tail);
}

void tern_event_file_begin(tern_log_bytes *to, double time, int64_t purge_step)
{
    enum { SESSION_STATUS = 1, SESSION_START = 1 };
    const int64_t version = tern_event_begin(to, time, 0);
    tern_pb_add_text(to, EVENT_VERSION, "brain.Event:2");
    tern_event_end(to, version);
    if (purge_step < 0)
        return;
    const int64_t purge = tern_event_begin(to, time, purge_step);
    const int64_t session = tern_pb_begin(to, EVENT_SESSION);
    tern_pb_add_int(to, SESSION_STATUS, SESSION_START);
    tern_pb_end(to, session);
    tern_event_end(to, purge);
}

// ---- reading ------------------------------------------------------------------------------------

// 0 where the message ends within it.
static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

// A field that is not there is 0.
static int64_t step_of(const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint64_t key = read_varint(&at, end), type = key & 7;
        const uint64_t varint = type == 0 || type == 2 ? read_varint(&at, end) : 0;
        const uint64_t size = type == 2 ? varint : type == 1 ? 8 : type == 5 ? 4 : 0;
        if (key >> 3 == EVENT_STEP && type == 0)
            return (int64_t)varint;
        if (size > (uint64_t)(end - at))
            break;
        at += size;
    }
    return 0;
}

bool tern_event_record(const uint8_t *bytes, int64_t count, int64_t *nbytes, int64_t *step)
{
    if (count < HEAD + TAIL || get_u32(bytes + 8) != masked(bytes, 8))
        return false;
    const uint64_t length = get_u64(bytes);
    const uint8_t *data = bytes + HEAD;
    if (length > (uint64_t)(count - HEAD - TAIL) ||
        get_u32(data + length) != masked(data, (size_t)length))
        return false;
    *nbytes = HEAD + (int64_t)length + TAIL;
    *step = step_of(data, data + length);
    return true;
}
