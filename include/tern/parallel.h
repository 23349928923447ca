// SPDX-License-Identifier: Apache-2.0
/// @file
/// Several devices of one machine: data parallel, and what it is made of.
///
///     tern_device devices[] = {tern_cuda(0), tern_cuda(1)};
///     tern_module_to(net, devices[0]);
///     tern_module *parallel = tern_nn_data_parallel(net, .devices = devices, .count = 2);
///     tern_tensor *loss = tern_loss(criterion, tern_forward(parallel, x), y);
///     tern_backward(loss);                      // sums the gradients in net's parameters
///
/// A batch is cut into a piece for each device, the module is replicated there, the replicas run at
/// once, each on a thread of its own, and their outputs are joined on one device. Failed calls
/// return NULL, a status or -1, with an error pending. Threads: as modules (module.h).
#ifndef TERN_PARALLEL_H
#define TERN_PARALLEL_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_nn_data_parallel(net, .devices = devices, .count = 2)`.
typedef struct tern_nn_data_parallel_options {
    const tern_device *devices; ///< of one type, each once, copied; NULL: all CUDA devices
    int count;                  ///< of devices
    tern_device output_device;  ///< where outputs are joined; devices[0] unless said
    int dim;                    ///< along which inputs are cut and outputs joined; 0
    char reserved_;
    tern_module *module; ///< taken over, also on failure
} tern_nn_data_parallel_options;
TERN_API tern_nn_data_parallel_options tern_nn_data_parallel_defaults(void);
/// Runs `module`, its child of that name, on a part of each batch per device, as PyTorch's
/// nn.DataParallel.
///
/// - Inputs, on any device: of size n along `dim`, pieces of ceil(n / count) and thus at times
///   fewer than devices; 0-dim ones go to every device, NULL stays NULL; without any the first
///   device runs alone. Outputs are joined in order, 0-dim ones to a vector.
/// - Parameters and buffers are on devices[0], else TERN_ERR_DEVICE. There the module itself runs,
///   so what it changes in itself stays; what replicas change in themselves is lost. Hooks run with
///   every piece, on its thread.
/// - Gradients of devices 1, 2, ... are added to those of the first in that order: the same bits as
///   one device that runs piece after piece. Dropout draws differently for each piece.
/// - One device runs the module on the whole batch. Without devices where there is no CUDA device
///   it is a plain call of the module.
/// - A class with `free` and without `copy` cannot be replicated (TERN_ERR_UNSUPPORTED), nor can
///   what is data parallel already, nor may the calling thread capture (TERN_ERR_STATE).
///
/// State dicts have "module." in front of the net's names: `.strip = "module."` loads one into a
/// plain net, `.prefix` does not; `.strip_component = "module"` loads either into either.
TERN_API tern_module *tern_nn_data_parallel_with(const tern_nn_data_parallel_options *options);
#define tern_nn_data_parallel(...)                                                                 \
    TERN_WITH_(tern_nn_data_parallel, (TERN_FIELDS_1_, module),                                    \
               (.devices = NULL, .count = 0, .output_device = {TERN_DEVICE_UNSPECIFIED, 0},        \
                .dim = 0, .reserved_ = 0, TERN_REQUIRED_1_(module, __VA_ARGS__, )),                \
               __VA_ARGS__)

/// The devices that it runs on to `devices`, at most `capacity` of them (NULL with 0 to ask how
/// many). Returns how many there are: 0 where it calls the module plainly, -1 with TERN_ERR_ARG for
/// a module that is not data parallel.
TERN_API int tern_nn_data_parallel_devices(const tern_module *module, tern_device *devices,
                                           int capacity);

// ---- its parts ----------------------------------------------------------------------------------

/// Cuts the inputs for `count` devices along `dim` as said above, into pieces[0], pieces[1], ...,
/// `count` at most, and moves each to its device; returns how many there are. Inputs that are not
/// of one size along `dim` are TERN_ERR_SHAPE. Gradients flow through. Page-locked inputs are read
/// while the call has returned already, as by tern_to_non_blocking.
TERN_API TERN_NODISCARD int tern_scatter_batch(const tern_tensors *in, const tern_device *devices,
                                               int count, int dim, tern_tensors *pieces);

/// Replicas of the module on `count` devices, to be freed with tern_module_free; its own tensors
/// are on devices[0], and replicas[0] is the module itself with one more reference. Gradients of
/// a replica's parameters arrive at the module's; each replica is for one forward and backward.
TERN_API TERN_NODISCARD tern_status tern_replicate(tern_module *module, const tern_device *devices,
                                                   int count, tern_module **replicas);

/// Runs modules[i] on in[i], to out[i], at once, each on a thread of its own but the first, which
/// runs on the calling thread. Threads have the calling thread's mode of recording, default dtype
/// and streams; the current CUDA device is that of the piece's first tensor. The first failure, in
/// order, is the call's.
TERN_API TERN_NODISCARD tern_status tern_parallel_apply(tern_module *const *modules,
                                                        const tern_tensors *in, tern_tensors *out,
                                                        int count);

/// Joins `count` pieces, of as many tensors each, on a device: along `dim`, or 0-dim ones to a
/// vector. Gradients flow through.
TERN_API TERN_NODISCARD tern_status tern_gather_batch(const tern_tensors *pieces, int count,
                                                      tern_device device, int dim,
                                                      tern_tensors *out);

TERN_END_DECLS

#endif
