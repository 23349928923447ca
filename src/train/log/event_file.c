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

int64_t tern_event_file_whole(const uint8_t *bytes, int64_t count, bool *broken)
{
    int64_t at = 0;
    *broken = false;
    while (count - at >= HEAD) {
        const uint8_t *head = bytes + at, *data = head + HEAD;
        const uint64_t length = get_u64(head), rest = (uint64_t)(count - at - HEAD);
        *broken = get_u32(head + 8) != masked(head, 8);
        if (*broken || rest < TAIL || length > rest - TAIL)
            break;
        *broken = get_u32(data + length) != masked(data, (size_t)length);
        if (*broken)
            break;
        at += HEAD + (int64_t)length + TAIL;
    }
    return at;
}
