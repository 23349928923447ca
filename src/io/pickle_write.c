// SPDX-License-Identifier: Apache-2.0
#include "io/pickle_write.h"

#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/bytes.h"
#include "io/torch_dtype.h"
#include "io/zip.h"

// ---- bytes --------------------------------------------------------------------------------------

static void append(tern_torch_writer *w, const void *bytes, size_t nbytes)
{
    if (!w->status)
        w->status = tern_mem_grow((void **)&w->bytes, &w->capacity, w->used + (int64_t)nbytes, 1);
    if (w->status || nbytes == 0)
        return;
    memcpy(w->bytes + w->used, bytes, nbytes);
    w->used += (int64_t)nbytes;
}

static void append_string(tern_torch_writer *w, const char *bytes)
{
    append(w, bytes, strlen(bytes));
}

// An opcode and the lowest `count` bytes of a number.
static void append_number(tern_torch_writer *w, char opcode, int count, uint64_t value)
{
    unsigned char bytes[9] = {(unsigned char)opcode};
    (void)put_uint(bytes + 1, count, value);
    append(w, bytes, 1 + (size_t)count);
}

// ---- values -------------------------------------------------------------------------------------

void tern_torch_write_begin(tern_torch_writer *w)
{
    append_string(w, "\x80\x02"); // the protocol
}

void tern_torch_write_none(tern_torch_writer *w)
{
    append_string(w, "N");
}

void tern_torch_write_bool(tern_torch_writer *w, bool value)
{
    append_string(w, value ? "\x88" : "\x89");
}

void tern_torch_write_int(tern_torch_writer *w, int64_t value)
{
    if (value >= 0 && value <= UINT8_MAX) {
        append_number(w, 'K', 1, (uint64_t)value);
    } else if (value >= 0 && value <= UINT16_MAX) {
        append_number(w, 'M', 2, (uint64_t)value);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        append_number(w, 'J', 4, (uint64_t)value);
    } else {
        append_string(w, "\x8a");
        append_number(w, 8, 8, (uint64_t)value); // its bytes
    }
}

void tern_torch_write_double(tern_torch_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_number(w, 'G', 8, __builtin_bswap64(bits)); // big-endian
}

void tern_torch_write_text(tern_torch_writer *w, const char *text)
{
    append_number(w, 'X', 4, strlen(text));
    append_string(w, text);
}

void tern_torch_write_tuple(tern_torch_writer *w, int count)
{
    append_string(w, count == 2 ? "\x86" : "\x87");
}

// What began at `begin` with a mark ends with the opcode; without anything in between both go.
static void end(tern_torch_writer *w, int64_t begin, const char *opcode)
{
    if (!w->status && w->used == begin)
        w->used--;
    else
        append_string(w, opcode);
}

int64_t tern_torch_write_dict(tern_torch_writer *w, bool ordered)
{
    append_string(w, ordered ? "ccollections\nOrderedDict\n)R(" : "}(");
    return w->used;
}

void tern_torch_write_dict_end(tern_torch_writer *w, int64_t begin)
{
    end(w, begin, "u");
}

int64_t tern_torch_write_list(tern_torch_writer *w)
{
    append_string(w, "](");
    return w->used;
}

void tern_torch_write_list_end(tern_torch_writer *w, int64_t begin)
{
    end(w, begin, "e");
}

// ---- tensors ------------------------------------------------------------------------------------

int64_t tern_torch_write_storage(tern_torch_writer *w, tern_body body)
{
    if (!w->status)
        w->status = tern_mem_grow((void **)&w->storages, &w->storage_capacity, w->count + 1,
                                  sizeof *w->storages);
    if (w->status)
        return 0;
    w->storages[w->count] = body;
    return w->count++;
}

static void write_tuple(tern_torch_writer *w, const int64_t *items, int count)
{
    append_string(w, "(");
    for (int i = 0; i < count; i++)
        tern_torch_write_int(w, items[i]);
    append_string(w, "t");
}

static void write_id(tern_torch_writer *w, int64_t storage, const tern_torch_dtype *dtype,
                     int64_t numel)
{
    char text[64];
    append_string(w, "(");
    tern_torch_write_text(w, "storage");
    snprintf(text, sizeof text, "ctorch\n%s\n", dtype->storage);
    append_string(w, text);
    snprintf(text, sizeof text, "%lld", (long long)storage);
    tern_torch_write_text(w, text);
    tern_torch_write_text(w, "cpu");
    tern_torch_write_int(w, numel);
    append_string(w, "tQ");
}

void tern_torch_write_tensor(tern_torch_writer *w, int64_t storage, tern_dtype dtype,
                             tern_shape shape)
{
    int64_t stride[TERN_MAX_RANK], numel = 1;
    for (int i = shape.rank; i-- > 0;) {
        stride[i] = numel;
        numel *= shape.dim[i];
    }
    append_string(w, "ctorch._utils\n_rebuild_tensor_v2\n(");
    write_id(w, storage, tern_torch_dtype_of(dtype), numel);
    tern_torch_write_int(w, 0); // offset
    write_tuple(w, shape.dim, shape.rank);
    write_tuple(w, stride, shape.rank);
    tern_torch_write_bool(w, false);                     // requires_grad
    append_string(w, "ccollections\nOrderedDict\n)RtR"); // no hooks
}

// ---- the archive --------------------------------------------------------------------------------

static tern_status write_text_entry(tern_zip_writer *zip, const char *name, const char *text)
{
    return tern_zip_add(zip, name, text, (int64_t)strlen(text));
}

static tern_status write_entries(const tern_torch_writer *w, tern_zip_writer *zip)
{
    TERN_TRY(tern_zip_add(zip, "archive/data.pkl", w->bytes, w->used));
    TERN_TRY(write_text_entry(zip, "archive/.format_version", "1"));
    TERN_TRY(write_text_entry(zip, "archive/.storage_alignment", "64"));
    TERN_TRY(write_text_entry(zip, "archive/byteorder", "little"));
    for (int64_t i = 0; i < w->count; i++) {
        char name[64];
        snprintf(name, sizeof name, "archive/data/%lld", (long long)i);
        TERN_TRY(tern_zip_add_body(zip, name, NULL, 0, &w->storages[i]));
    }
    return write_text_entry(zip, "archive/version", "3\n");
}

tern_status tern_torch_write_end(tern_torch_writer *w, tern_save *save)
{
    append_string(w, ".");
    TERN_TRY(w->status);
    tern_zip_writer zip = {.save = save};
    tern_status status = write_entries(w, &zip);
    if (!status)
        status = tern_zip_end(&zip);
    tern_zip_writer_free(&zip);
    return status;
}

void tern_torch_writer_free(tern_torch_writer *w)
{
    tern_mem_free(w->bytes, (size_t)w->capacity);
    tern_mem_free(w->storages, (size_t)w->storage_capacity * sizeof *w->storages);
    *w = (tern_torch_writer){.status = TERN_OK};
}
