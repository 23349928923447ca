// SPDX-License-Identifier: Apache-2.0
#include "tensor/capture.h"

#include "base/error.h"
#include "base/mem.h"
#include "device/draws.h"
#include "device/fault.h"
#include "tensor/capture_storage.h"
#include "tensor/header.h"

// What the host knows of a leaf.
typedef struct leaf_state {
    tern_grad_state grad;
    bool requires_grad;
} leaf_state;

typedef struct tern_captured_leaf {
    tern_tensor *leaf;                   // held
    tern_storage *grad;                  // that the graph uses for its gradient; held, or NULL
    leaf_state before, after;            // the capture
    bool queried_grad, queried_requires; // the graph is right for that part of `before` alone
    bool set_grad, set_requires;         // captured work sets it, whatever it was
} captured_leaf;

static leaf_state state_of(const tern_tensor *leaf)
{
    return (leaf_state){leaf->grad_state, leaf->requires_grad};
}

// Sets what captured work may have changed, and nothing else.
static void set_state(const captured_leaf *recorded, leaf_state state)
{
    if (recorded->queried_grad || recorded->set_grad)
        recorded->leaf->grad_state = state.grad;
    if (recorded->set_requires)
        recorded->leaf->requires_grad = state.requires_grad;
}

// What is recorded of the leaf; its first event notes how it was before. NULL raises.
static captured_leaf *leaf_of(tern_tensor_capture *capture, const tern_tensor *leaf)
{
    int64_t index;
    if (tern_mem_grow((void **)&capture->leaves, &capture->leaf_capacity, capture->leaf_count + 1,
                      sizeof *capture->leaves) ||
        tern_pointer_map_add(&capture->leaf_map, leaf, &index))
        return NULL;
    if (index == capture->leaf_count)
        capture->leaves[capture->leaf_count++] = (captured_leaf){
            .leaf = tern_tensor_retain((tern_tensor *)(uintptr_t)leaf), .before = state_of(leaf)};
    return &capture->leaves[index];
}

tern_status tern_capture_leaf_event(const tern_tensor *leaf, tern_leaf_event event)
{
    tern_tensor_capture *capture = (tern_tensor_capture *)tern_capture_of_thread();
    captured_leaf *recorded = leaf_of(capture, leaf);
    if (!recorded) {
        capture->base.failed = true;
        return TERN_ERR_NOMEM;
    }
    switch (event) {
    case TERN_LEAF_GRAD_QUERIED:
        recorded->queried_grad = recorded->queried_grad || !recorded->set_grad;
        break;
    case TERN_LEAF_GRAD_ZEROED:
        recorded->set_grad = true;
        capture->clears_faults = capture->clears_faults || capture->base.hook_count == 0;
        break;
    case TERN_LEAF_REQUIRES_QUERIED:
        recorded->queried_requires = recorded->queried_requires || !recorded->set_requires;
        break;
    case TERN_LEAF_REQUIRES_SET:
        recorded->set_requires = true;
        break;
    }
    return TERN_OK;
}

// ---- beginning and end --------------------------------------------------------------------------

tern_tensor_capture *tern_tensor_capture_begin(tern_device device)
{
    tern_tensor_capture *capture = tern_mem_alloc(sizeof *capture);
    if (capture)
        tern_capture_begin(&capture->base, device);
    return capture;
}

// Where the graph reads or writes the leaf's gradient, if it does.
static tern_storage *captured_grad(const tern_tensor_capture *capture, const tern_tensor *leaf)
{
    tern_storage *s = leaf->grad ? leaf->grad->storage : NULL;
    return s && tern_capture_knows(capture, s) ? s : NULL;
}

static void finalize_leaf(const tern_tensor_capture *capture, captured_leaf *recorded)
{
    recorded->after = state_of(recorded->leaf);
    recorded->grad = captured_grad(capture, recorded->leaf);
    if (recorded->grad)
        tern_storage_retain(recorded->grad);
    set_state(recorded, recorded->before);
}

tern_status tern_tensor_capture_end(tern_tensor_capture *capture)
{
    tern_capture_end();
    for (int64_t i = 0; i < capture->leaf_count; i++)
        finalize_leaf(capture, &capture->leaves[i]);
    for (int64_t i = 0; i < capture->storage_count; i++) {
        tern_captured_storage *recorded = &capture->storages[i];
        recorded->written = atomic_load(&recorded->storage->version) != recorded->version;
    }
    TERN_CHECK(
        !capture->base.failed, TERN_ERR_NOMEM,
        "cuda_graph_end: the graph is incomplete: memory was missing, or a step in it failed");
    return TERN_OK;
}

void tern_tensor_capture_free(tern_tensor_capture *capture)
{
    if (!capture)
        return;
    tern_capture_free(&capture->base);
    for (int64_t i = 0; i < capture->leaf_count; i++) {
        tern_storage_release(capture->leaves[i].grad);
        tern_tensor_release(capture->leaves[i].leaf);
    }
    for (int64_t i = 0; i < capture->storage_count; i++)
        tern_storage_release(capture->storages[i].storage);
    tern_pointer_map_free(&capture->leaf_map);
    tern_mem_free(capture->leaves, (size_t)capture->leaf_capacity * sizeof *capture->leaves);
    tern_mem_free(capture->storages, (size_t)capture->storage_capacity * sizeof *capture->storages);
    tern_mem_free(capture, sizeof *capture);
}

// ---- replays ------------------------------------------------------------------------------------

#define AGAIN "capture the step again"

static tern_status check_storage(const tern_captured_storage *recorded)
{
    const char *label = recorded->label[0] ? recorded->label : "a tensor that the graph uses";
    TERN_CHECK(!atomic_load(&recorded->storage->left), TERN_ERR_STATE,
               "cuda_graph_replay: %s moved since the capture; " AGAIN, label);
    return TERN_OK;
}

static const char *grad_words(tern_grad_state state)
{
    switch (state) {
    case TERN_GRAD_ABSENT:
        return "absent";
    case TERN_GRAD_PRESENT:
        return "present";
    case TERN_GRAD_UNUSABLE:
        break;
    }
    return "unusable after a failed backward";
}

static tern_status check_leaf(const captured_leaf *recorded)
{
    const tern_tensor *leaf = recorded->leaf;
    const char *name = tern_name(leaf);
    TERN_CHECK(!recorded->grad || (leaf->grad && leaf->grad->storage == recorded->grad),
               TERN_ERR_STATE,
               "cuda_graph_replay: the gradient of %s moved since the capture; " AGAIN, name);
    TERN_CHECK(!recorded->queried_requires || leaf->requires_grad == recorded->before.requires_grad,
               TERN_ERR_STATE,
               "cuda_graph_replay: %s %s a gradient since the capture, but the graph %s it; " AGAIN,
               name, leaf->requires_grad ? "requires" : "no longer requires",
               leaf->requires_grad ? "does not compute" : "computes");
    TERN_CHECK(!recorded->queried_grad || leaf->grad_state == recorded->before.grad, TERN_ERR_STATE,
               "cuda_graph_replay: the gradient of %s is %s, but was %s at the capture, which "
               "decided whether the graph overwrites it, adds to it or uses it; begin the captured "
               "work with zero_grad, or make it so before the replay",
               name, grad_words(leaf->grad_state), grad_words(recorded->before.grad));
    return TERN_OK;
}

tern_status tern_tensor_capture_check_replay(const tern_tensor_capture *capture)
{
    TERN_TRY(tern_capture_refuse("cuda_graph_replay", "a graph cannot become part of another"));
    for (int64_t i = 0; i < capture->storage_count; i++)
        TERN_TRY(check_storage(&capture->storages[i]));
    for (int64_t i = 0; i < capture->leaf_count; i++)
        TERN_TRY(check_leaf(&capture->leaves[i]));
    if (capture->clears_faults)
        tern_fault_clear_raised(capture->base.device);
    for (int64_t i = 0; i < capture->base.hook_count; i++)
        TERN_TRY(capture->base.hooks[i].check(capture->base.hooks[i].user));
    return TERN_OK;
}

// The last one first: hooks of one optimizer count its steps one after the other.
static void end_hooks(const tern_tensor_capture *capture, int64_t count, bool replayed)
{
    while (count-- > 0)
        capture->base.hooks[count].end(capture->base.hooks[count].user, replayed);
}

tern_status tern_tensor_capture_before_replay(const tern_tensor_capture *capture)
{
    TERN_TRY(tern_draw_advance(capture->base.device)); // the captured draws count from the base
    for (int64_t i = 0; i < capture->storage_count; i++)
        tern_storage_order(capture->storages[i].storage);
    for (int64_t i = 0; i < capture->base.hook_count; i++) {
        const tern_status status = capture->base.hooks[i].run(capture->base.hooks[i].user);
        if (status) {
            end_hooks(capture, i + 1, false);
            return status;
        }
    }
    return TERN_OK;
}

// A tensor whose history was captured is still what that says.
static void touch(tern_storage *s)
{
    if (!atomic_load(&s->recorded))
        atomic_fetch_add_explicit(&s->version, 1, memory_order_relaxed);
}

void tern_tensor_capture_after_replay(const tern_tensor_capture *capture, bool replayed)
{
    end_hooks(capture, capture->base.hook_count, replayed);
    if (!replayed)
        return;
    for (int64_t i = 0; i < capture->storage_count; i++)
        if (capture->storages[i].written)
            touch(capture->storages[i].storage);
    for (int64_t i = 0; i < capture->leaf_count; i++)
        set_state(&capture->leaves[i], capture->leaves[i].after);
}
