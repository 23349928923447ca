// SPDX-License-Identifier: Apache-2.0
// Windows of a text, or of tokens in a file, and the same one further, for language models.
#include <errno.h>
#include <string.h>
#include <tern/datasets.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/dataset.h"
#include "data/file/path.h"
#include "io/file.h"
#include "ops/op.h"
#include "tensor/header.h"

static const char op[] = "data_text";

typedef struct text {
    tern_dataset base;
    char *path; // of the dataset's own
    tern_file file;
    int64_t length, stride; // of windows, in tokens
    int64_t token_bytes;
    int64_t samples;
} text;

static int64_t count_samples(const tern_dataset *dataset)
{
    return ((const text *)dataset)->samples;
}

static int64_t class_count(const tern_dataset *dataset)
{
    return INT64_C(1) << 8 * ((const text *)dataset)->token_bytes;
}

static bool sample_name(const tern_dataset *dataset, int64_t index, char *buffer, size_t size)
{
    const text *self = (const text *)dataset;
    snprintf(buffer, size, "byte %lld of %s", (long long)(index * self->stride * self->token_bytes),
             tern_path_name(self->path));
    return true;
}

static bool name_of_sample(const void *dataset, int64_t index, char *buffer, size_t size)
{
    return sample_name(dataset, index, buffer, size);
}

// ---- samples ------------------------------------------------------------------------------------

static void take_tokens(const unsigned char *bytes, int64_t token_bytes, int64_t *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = (int64_t)little_endian(bytes + i * token_bytes, (int)token_bytes);
}

static tern_status read_windows(const text *self, const int64_t *index, int64_t count, int64_t *x,
                                int64_t *y, unsigned char *bytes)
{
    tern_file file = self->file; // reading at a place changes nothing
    const int64_t length = self->length, size = self->token_bytes;
    for (int64_t i = 0; i < count; i++) {
        tern_sample_of_thread = (tern_sample_position){op, index[i], name_of_sample, self};
        if (i == 0)
            TERN_TRY(tern_file_check_same(&file));
        TERN_TRY(tern_file_read_at(&file, index[i] * self->stride * size, bytes,
                                   (size_t)((length + 1) * size)));
        take_tokens(bytes, size, x + i * length, length);
        take_tokens(bytes + size, size, y + i * length, length);
    }
    return TERN_OK;
}

static tern_status get(const tern_dataset *dataset, const tern_sample_context *context,
                       const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const text *self = (const text *)dataset;
    for (; out->count < 2; out->count++) {
        out->at[out->count] =
            tern_tensor_new(op, TERN_INT64, tern_cpu(0), tern_dims(count, self->length));
        if (!out->at[out->count])
            return tern_error_code();
    }
    const size_t nbytes = (size_t)((self->length + 1) * self->token_bytes);
    unsigned char *bytes = tern_cache_alloc(nbytes);
    if (!bytes)
        return TERN_ERR_NOMEM;
    const int saved = errno;
    const tern_sample_position outside = tern_sample_of_thread;
    tern_status status = read_windows(self, index, count, out->at[0]->storage->data,
                                      out->at[1]->storage->data, bytes);
    tern_sample_of_thread = outside;
    errno = saved;
    tern_cache_free(bytes, nbytes);
    return status;
}

static void release(tern_dataset *dataset)
{
    text *self = (text *)dataset;
    tern_file_close(&self->file);
    tern_mem_free_string(self->path);
}

static const tern_dataset_class text_class = {
    .name = op,
    .size = sizeof(text),
    .count = count_samples,
    .get = get,
    .free = release,
    .class_count = class_count,
    .sample_name = sample_name,
};

// ---- opening ------------------------------------------------------------------------------------

static tern_status check_options(const tern_data_text_options *o)
{
    if (!o || !o->path)
        return tern_null_error(op, o ? "path" : "options");
    TERN_CHECK(o->length >= 1 && o->length <= INT32_MAX, TERN_ERR_ARG,
               "%s: length is %lld, but must be 1 to %d", op, (long long)o->length, INT32_MAX);
    TERN_CHECK(o->stride >= 0, TERN_ERR_ARG,
               "%s: stride is %lld, but must be at least 1, or 0 for the length", op,
               (long long)o->stride);
    TERN_CHECK(o->token_bytes == 1 || o->token_bytes == 2 || o->token_bytes == 4, TERN_ERR_ARG,
               "%s: token_bytes is %lld, but must be 1, 2 or 4", op, (long long)o->token_bytes);
    return TERN_OK;
}

// Windows that begin every `stride` tokens and have one behind them.
static tern_status measure(text *self)
{
    const int64_t tokens = self->file.size / self->token_bytes;
    TERN_CHECK(self->file.size % self->token_bytes == 0, TERN_ERR_FORMAT,
               "%s: %s has %lld bytes, which are no tokens of %lld bytes each", op, self->file.path,
               (long long)self->file.size, (long long)self->token_bytes);
    TERN_CHECK(tokens > self->length, TERN_ERR_FORMAT,
               "%s: %s has %lld tokens, fewer than the %lld of a window and the one behind it", op,
               self->file.path, (long long)tokens, (long long)self->length);
    self->samples = (tokens - self->length - 1) / self->stride + 1;
    return TERN_OK;
}

static tern_status open_text(text *self, const tern_data_text_options *o)
{
    self->file.fd = -1;
    self->path = tern_mem_string(o->path);
    if (!self->path)
        return TERN_ERR_NOMEM;
    self->length = o->length;
    self->stride = o->stride > 0 ? o->stride : o->length;
    self->token_bytes = o->token_bytes;
    TERN_TRY(tern_file_open(&self->file, op, self->path));
    TERN_TRY(tern_file_stat(&self->file));
    return measure(self);
}

tern_dataset *tern_data_text_with(const tern_data_text_options *options)
{
    if (check_options(options))
        return NULL;
    text *self = (text *)tern_dataset_new(&text_class);
    const int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = self ? open_text(self, options) : TERN_ERR_NOMEM;
    tern_cancel_restore(cancel_state);
    errno = saved;
    if (!status)
        return &self->base;
    tern_dataset_free((tern_dataset *)self);
    return NULL;
}
