// SPDX-License-Identifier: Apache-2.0
#include "parallel/record.h"

#include <tern/autograd.h>
#include "autograd/op.h"
#include "base/mem.h"
#include "tensor/header.h"
#include "tensor/scope.h"
#include "tensor/view.h"

// A contiguous tensor at a byte of a storage, a temporary.
static tern_tensor *tensor_in(tern_storage *whole, int64_t byte, tern_dtype dtype, tern_shape shape)
{
    tern_tensor *t = tern_header_new("replicate");
    if (!t)
        return NULL;
    tern_header_shape(t, shape);
    t->dtype = dtype;
    t->storage = tern_storage_new_part(whole, byte, t->numel * (int64_t)tern_dtype_size(dtype));
    if (!t->storage || tern_scope_adopt(t)) {
        tern_tensor_release(t);
        return NULL;
    }
    return t;
}

static int64_t bytes_of(const tern_tensor *t)
{
    return tern_flat_bytes(t->numel * (int64_t)tern_dtype_size(t->dtype));
}

static tern_status pack(tern_storage *flat, tern_tensor *const *tensors, int64_t count)
{
    for (int64_t i = 0, byte = 0; i < count; i++) {
        const tern_tensor *from = tensors[i];
        if (!from)
            continue;
        tern_tensor *to = tensor_in(flat, byte, from->dtype, tern_shape_get(from));
        if (!to)
            return tern_error_code();
        TERN_TRY(tern_launch_copy(to, from));
        byte += bytes_of(from);
    }
    return TERN_OK;
}

static tern_status unpack(tern_storage *flat, tern_tensor *const *like, int64_t count,
                          tern_tensor **out)
{
    for (int64_t i = 0, byte = 0; i < count; i++) {
        if (!like[i])
            continue;
        out[i] = tensor_in(flat, byte, like[i]->dtype, tern_shape_get(like[i]));
        if (!out[i])
            return tern_error_code();
        byte += bytes_of(like[i]);
    }
    return TERN_OK;
}

// The gradients that arrived, packed on the replica's device, go to the parameters' in one copy.
static tern_status copy_back(const tern_node *node, tern_tensor *const *dy, int64_t nbytes,
                             tern_tensor **dx)
{
    tern_storage *there = tern_storage_new(node->out[0].device, nbytes);
    tern_storage *here = there ? tern_storage_new(node->in[0].device, nbytes) : NULL;
    tern_status status = here ? pack(there, dy, node->inputs) : TERN_ERR_NOMEM;
    if (!status)
        status = tern_storage_copy(here, 0, there, 0, nbytes, false);
    if (!status)
        status = unpack(here, dy, node->inputs, dx);
    tern_storage_release(there);
    tern_storage_release(here);
    return status;
}

// All CPU devices compute in the host's memory: there the gradients are added where they are.
static tern_status replicate_backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    int64_t nbytes = 0;
    if (node->in[0].device.type == TERN_CPU) {
        for (int64_t i = 0; i < node->inputs; i++)
            dx[i] = dy[i];
        return TERN_OK;
    }
    for (int64_t i = 0; i < node->inputs; i++)
        nbytes += dy[i] ? bytes_of(dy[i]) : 0;
    return copy_back(node, dy, nbytes, dx);
}

static const tern_op replicate_op = {.name = "replicate", .backward = replicate_backward};

static tern_status record(tern_tensor *const *inputs, tern_tensor *const *outputs, int count)
{
    const tern_op_call call = {.op = &replicate_op, .count = count, .many = inputs};
    if (count == 0)
        return TERN_OK;
    TERN_TRY(tern_op_end_many(&call, outputs, count, count, NULL, 0));
    outputs[0]->node->partial = true;
    return TERN_OK;
}

tern_status tern_replicas_record(tern_tensor *const *parameters, tern_tensor *const *replicas,
                                 int64_t count)
{
    int trainable = 0;
    if (!tern_grad_enabled() || count == 0)
        return TERN_OK;
    const size_t size = 2 * (size_t)count * sizeof(tern_tensor *);
    tern_tensor **inputs = tern_cache_alloc(size), **outputs = inputs + count;
    if (!inputs)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        if (!parameters[i]->requires_grad)
            continue;
        inputs[trainable] = parameters[i];
        outputs[trainable++] = replicas[i];
    }
    tern_status status = record(inputs, outputs, trainable);
    tern_cache_free(inputs, size);
    return status;
}
