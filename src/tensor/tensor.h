// SPDX-License-Identifier: Apache-2.0
// What a tensor is inside the library: a header (sizes, strides, owners) over a counted storage.
#ifndef TERN_SRC_TENSOR_TENSOR_H
#define TERN_SRC_TENSOR_TENSOR_H

#include <stdatomic.h>
#include <string.h>
#include <tern/tensor.h>
#include "base/error.h"
#include "base/one_thread.h"

typedef struct tern_node tern_node;

// Bytes on a device. The version counts in-place changes and is shared by all views.
typedef struct tern_storage {
    _Atomic int64_t refs;
    _Atomic uint64_t version;
    _Atomic uint64_t recorded; // version of the last change that carries gradients, 0: none
    tern_device device;
    void *data;
    void *block;                // the backend's, or NULL
    struct tern_storage *whole; // of whose memory this is a part; NULL: it has its own
    int64_t nbytes;
    bool pinned;              // page-locked memory of the host
    _Atomic bool exposed;     // its address was handed out: not every change is in the version
    _Atomic bool left;        // tensors that used it have moved to another device
    _Atomic uint64_t capture; // the last one that used it: see tensor/capture.h
} tern_storage;

// A gradient is absent (its memory may be kept), present, or left unusable by a failed backward.
typedef enum tern_grad_state {
    TERN_GRAD_ABSENT = 0,
    TERN_GRAD_PRESENT,
    TERN_GRAD_UNUSABLE
} tern_grad_state;

#define TERN_LABEL_SIZE 48
#define TERN_CACHE_LINE 64

struct tern_tensor {
    // Messages name a dead tensor by these fields; the others are those of a live one only.
    _Alignas(TERN_CACHE_LINE) uint32_t stamp; // TERN_STAMP_ALIVE, or how it died
    union {
        struct {
            int rank;
            int64_t size[TERN_MAX_RANK];
        };
        tern_shape shape; // both at once
    };
    tern_dtype dtype;
    const char *op;              // what made it; static storage
    char label[TERN_LABEL_SIZE]; // a parameter's or buffer's name, else ""
    tern_tensor *next_free;
    int64_t numel;               // the first field that is poisoned
    _Atomic int32_t refs;        // everybody: scopes, retains, modules, nodes
    _Atomic int32_t retains;     // tern_retain less tern_release
    _Atomic int32_t saves;       // of refs those of nodes that keep it for their backward
    _Atomic int32_t edges;       // of refs those of nodes' edges that pass its gradient on to it
    _Atomic uint32_t last_stamp; // its stamp, should its last reference go
    bool contiguous;
    bool requires_grad; // a leaf that collects, or any tensor with a node
    tern_grad_state grad_state;
    int64_t offset;                // elements from the storage's start
    int64_t stride[TERN_MAX_RANK]; // elements
    tern_storage *storage;
    tern_node *node;          // how it was made; NULL for leaves and unrecorded results
    int output;               // which output of the node
    bool is_view;             // made by a view operation
    bool detached;            // by tern_detach, or a view of one that is
    uint64_t history_version; // storage version at which `node` describes the values
    tern_tensor *grad;        // a leaf's gradient
    bool collected;           // scratch of a running backward
    bool accumulates;         // an optimizer adds up this leaf's gradients over several steps
};

_Static_assert(offsetof(tern_tensor, size) == offsetof(tern_tensor, shape.dim), "one shape");

#define TERN_STAMP_ALIVE    0x7e12a11fu
#define TERN_STAMP_SCOPE    0x7e12dea1u // its scope closed
#define TERN_STAMP_RELEASED 0x7e12dea2u // tern_release
#define TERN_STAMP_BATCH    0x7e12dea3u // its loader went on
#define TERN_STAMP_HOLDER   0x7e12dea4u // the module, optimizer, dataset or state with it was freed
#define TERN_STAMP_LEAF     0x7e12dea5u // a gradient: its leaf died
#define TERN_STAMP_COMPUTED 0x7e12dea6u // it is computed while its module runs

// ---- making and holding -----------------------------------------------------------------------

// A contiguous tensor with undefined contents, a temporary of the innermost scope. `op` names what
// makes it, static.
tern_tensor *tern_tensor_new(const char *op, tern_dtype dtype, tern_device device,
                             tern_shape shape);

// Likewise in page-locked memory of the host; there is a CUDA device.
tern_tensor *tern_tensor_new_pinned(const char *op, tern_dtype dtype, tern_shape shape);

// A tensor over the storage of `base` with sizes, strides and offset (elements) of its own, no
// history; a temporary of the innermost scope. The caller has checked the bounds.
tern_tensor *tern_tensor_alias(const char *op, const tern_tensor *base, tern_shape shape,
                               const int64_t *stride, int64_t offset);

// Names a tensor in messages. What does not fit loses its beginning.
void tern_tensor_set_label(tern_tensor *t, const char *label);

// ---- storage ----------------------------------------------------------------------------------

// Memory is a device's first use: it is opened here at the latest. refs 1; NULL raises.
tern_storage *tern_storage_new(tern_device device, int64_t nbytes);
tern_storage *tern_storage_new_pinned(int64_t nbytes);
// For what the host has written between replays: memory of a graph that the thread captures is
// free to its kernels until they write it.
tern_storage *tern_storage_new_outside(tern_device device, int64_t nbytes);
// A part of the memory of `whole`, which it holds, with a version of its own.
tern_storage *tern_storage_new_part(tern_storage *whole, int64_t byte, int64_t nbytes);
static inline void tern_storage_retain(tern_storage *s)
{
    tern_refs_retain(&s->refs);
}

void tern_storage_release(tern_storage *s); // NULL is fine

// Work of the calling thread is about to be given memory of `s`, for a tensor with that label: what
// other streams do with it comes first, and a graph that captures the work holds it.
void tern_storage_use(tern_storage *s, const char *label);
// The first half of that.
void tern_storage_order(const tern_storage *s);

// Bytes from one storage to another, in stream order; neither touches versions nor is recorded.
// Without `wait`, copies between a device and pinned memory are only queued.
tern_status tern_storage_copy(tern_storage *to, int64_t to_byte, tern_storage *from,
                              int64_t from_byte, int64_t nbytes, bool wait);

// The values of `t` were changed in place. Its history stays as true as it was: one that another
// view has made untrue does not become true by a change that is not recorded.
void tern_tensor_touched(tern_tensor *t);

// ---- asking -----------------------------------------------------------------------------------

static inline tern_device tern_dev(const tern_tensor *t)
{
    return t->storage->device;
}

// Of devices of tensors; tern_device_equal also looks up what an unspecified one stands for.
static inline bool tern_same_device(tern_device a, tern_device b)
{
    return a.type == b.type && a.index == b.index;
}

static inline tern_shape tern_shape_get(const tern_tensor *t)
{
    return t->shape;
}

// "(64, 784)" for messages; the text belongs to the thread and stays valid for the next 8 calls.
const char *tern_shape_string(tern_shape shape);

// "float32 (64, 784) on cpu" for messages; likewise valid for the next 8 calls.
const char *tern_tensor_string(const tern_tensor *t);

// "\"weight\", float32 (10, 784)" or "float32 (64, 784), made by neg", also of a dead tensor.
const char *tern_identity_string(const tern_tensor *t);

#endif
