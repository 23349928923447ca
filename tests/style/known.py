# SPDX-License-Identifier: Apache-2.0
"""What the rules know of a tree that is not yet laid out as they ask."""

# Files by the room that they move to.
MOVING = {
    'src/tensor/abi.h': 'device',
    'src/tensor/backend.h': 'device',
    'src/tensor/capture.c': 'device',
    'src/tensor/capture.h': 'device',
    'src/tensor/comparison.h': 'device',
    'src/tensor/cuda.c': 'device',
    'src/tensor/device.c': 'device',
    'src/tensor/dtype.c': 'device',
    'src/tensor/exec.c': 'device',
    'src/tensor/generator.c': 'device',
    'src/tensor/generator.h': 'device',
    'src/tensor/generator_state.c': 'device',
    'src/tensor/kernels.h': 'device',
    'src/tensor/plugin.c': 'device',
    'src/tensor/plugin.h': 'device',
    'src/tensor/plugin_path.h': 'device',
    'src/tensor/visible.c': 'device',
    'src/tensor/visible.h': 'device',
    'src/tensor/autograd.c': 'autograd',
    'src/tensor/engine.c': 'autograd',
    'src/tensor/graph.c': 'autograd',
    'src/tensor/leaf.c': 'autograd',
    'src/tensor/leaf.h': 'autograd',
    'src/tensor/shutdown.c': 'autograd',
    'src/ops/ask.c': 'tensor',
    'src/ops/create.c': 'tensor',
    'src/ops/create_like.c': 'tensor',
    'src/ops/front.c': 'tensor',
    'src/ops/front.h': 'tensor',
    'src/ops/host.c': 'tensor',
    'src/ops/print.c': 'tensor',
    'src/ops/print.h': 'tensor',
    'src/ops/print_values.c': 'tensor',
}

# Includes and calls against the arrows, by file.
INCLUDES = {
    ('include/tern/cuda.h', 'tern/tensor.h'),
    ('src/cpu/span.h', 'tern/tensor.h'),
    ('src/tensor/capture.c', 'tensor/op.h'),
    ('src/tensor/capture.h', 'tensor/tensor.h'),
    ('src/tensor/cuda.c', 'tensor/op.h'),
    ('src/tensor/device.c', 'tensor/op.h'),
    ('src/tensor/dtype.c', 'tern/tensor.h'),
    ('src/tensor/exec.c', 'tensor/op.h'),
    ('src/tensor/generator.h', 'tern/random.h'),
    ('src/tensor/kernels.h', 'tern/ops.h'),
    ('src/tensor/kernels.h', 'tern/random.h'),
    ('src/tensor/kernels.h', 'tern/tensor.h'),
    ('src/tensor/op.h', 'tern/autograd.h'),
    ('src/tensor/scope.c', 'tensor/leaf.h'),
}
CALLS = {
    ('src/ops/host.c', 'tern_begin_overwrite'),
    ('src/ops/host.c', 'tern_copied'),
    ('src/ops/host.c', 'tern_end_inplace'),
    ('src/ops/print_values.c', 'tern_cat'),
    ('src/ops/print_values.c', 'tern_narrow'),
    ('src/tensor/capture.c', 'tern_drop'),
    ('src/tensor/capture.c', 'tern_hold'),
    ('src/tensor/capture.c', 'tern_name'),
    ('src/tensor/capture.c', 'tern_storage_drop'),
    ('src/tensor/capture.c', 'tern_storage_hold'),
    ('src/tensor/capture.c', 'tern_storage_order'),
    ('src/tensor/node.c', 'tern_grad_enabled'),
    ('src/tensor/prepare.c', 'tern_to'),
    ('src/tensor/prepare.c', 'tern_to_dtype'),
    ('src/tensor/scope.c', 'tern_engine_shutdown'),
}

# Public functions that another room than their header's defines.
ELSEWHERE = {
    'tern_add_', 'tern_add_scalar_', 'tern_cat', 'tern_chunk', 'tern_clone', 'tern_contiguous',
    'tern_copy_', 'tern_cuda_graph_begin', 'tern_cuda_graph_end', 'tern_cuda_graph_free',
    'tern_cuda_graph_replay', 'tern_default_generator', 'tern_detach', 'tern_dtype_is_floating',
    'tern_dtype_name', 'tern_dtype_size', 'tern_expand', 'tern_fill_', 'tern_flatten',
    'tern_generator_free', 'tern_generator_load', 'tern_generator_new', 'tern_generator_save',
    'tern_generator_seed', 'tern_generator_state_size', 'tern_is_pinned', 'tern_manual_seed',
    'tern_mul_', 'tern_mul_scalar_', 'tern_narrow', 'tern_permute', 'tern_pin_memory',
    'tern_promote', 'tern_reshape', 'tern_select', 'tern_slice', 'tern_split', 'tern_squeeze',
    'tern_stack', 'tern_to', 'tern_to_dtype', 'tern_to_non_blocking', 'tern_transpose',
    'tern_unsqueeze', 'tern_view', 'tern_zero_',
}

# Circles of files that are still to be opened; a part of one is known too.
CIRCLES = {
    frozenset({
        'src/base/allocator.c', 'src/base/cache.c',
    }),
    frozenset({
        'src/base/backtrace.c', 'src/base/error.c', 'src/base/fork.c', 'src/base/location.c',
        'src/base/log.c', 'src/base/path.c',
    }),
    frozenset({
        'src/cuda/host/allocator.c', 'src/cuda/host/blas.c', 'src/cuda/host/device.c',
        'src/cuda/host/fence.c', 'src/cuda/host/free_set.c', 'src/cuda/host/graph.c',
        'src/cuda/host/heap.c', 'src/cuda/host/memory.c', 'src/cuda/host/pinned.c',
        'src/cuda/host/pool.h', 'src/cuda/host/segment.c', 'src/cuda/host/staging.c',
        'src/cuda/host/stream.c', 'src/cuda/random/random.c',
    }),
    frozenset({
        'src/ops/ask.c', 'src/ops/copy.c', 'src/ops/create.c', 'src/ops/create_like.c',
        'src/ops/front.c', 'src/tensor/autograd.c', 'src/tensor/capture.c', 'src/tensor/cuda.c',
        'src/tensor/device.c', 'src/tensor/engine.c', 'src/tensor/exec.c', 'src/tensor/header.c',
        'src/tensor/leaf.c', 'src/tensor/node.c', 'src/tensor/prepare.c', 'src/tensor/promote.c',
        'src/tensor/scope.c', 'src/tensor/shape.c', 'src/tensor/storage.c', 'src/tensor/view.c',
    }),
    frozenset({
        'src/ops/print.c', 'src/ops/print_values.c',
    }),
    frozenset({
        'src/optim/capture.c', 'src/optim/step.c',
    }),
    frozenset({
        'src/optim/optim.c', 'src/optim/option.c',
    }),
}
