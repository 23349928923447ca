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
#include <tern/reduction.h>

TERN_BEGIN_DECLS

/// `tern_nn_data_parallel(net, .devices = devices, .count = 2)`.
typedef struct tern_nn_data_parallel_options {
    const tern_device *devices; ///< of one type, each once, copied; NULL: all CUDA devices
    int count;                  ///< of devices
    tern_device output_device;  ///< where outputs are joined; devices[0] unless said
    int dim;                    ///< along which inputs are cut and outputs joined
    char reserved_;
    tern_module *module; ///< taken over, also on failure
} tern_nn_data_parallel_options;
#define TERN_NN_DATA_PARALLEL_DEFAULTS_                                                            \
    .devices = NULL, .count = 0, .output_device = {TERN_DEVICE_UNSPECIFIED, 0}, .dim = 0
#define TERN_NN_DATA_PARALLEL_FIELDS_ 1, 0, (module), (module)
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
/// - Threads have the calling thread's mode of recording, default dtype and streams; "cuda" is the
///   piece's device there, and so is the default device where it was devices[0].
/// - Gradients of devices 1, 2, ... are added to those of the first in that order: the same bits as
///   one device that computes each piece's gradients apart and adds them. Dropout draws differently
///   for each piece; generators do not, as PyTorch's: their seeds are the same on all devices.
/// - One device runs the module on the whole batch. Without devices where there is no CUDA device
///   it is a plain call of the module. CUDA devices of which one has less than 3/4 of another's
///   memory or multiprocessors are a warning.
/// - Hooks do not run backward through the module's parameters: those are everybody's. A backward
///   function of your own takes what it needs as saved tensors or data: what its module
///   was may be a replica that is gone.
/// - A class with `free` and without `copy` cannot be replicated (TERN_ERR_UNSUPPORTED), nor can
///   what is data parallel already, nor may the calling thread capture (TERN_ERR_STATE).
///
/// State dicts have "module." in front of the net's names: `.strip = "module."` loads one into a
/// plain net, `.strip_component = "module"` also a plain one into this, and where a part of a net
/// is data parallel.
TERN_API tern_module *tern_nn_data_parallel_with(const tern_nn_data_parallel_options *options);
#define tern_nn_data_parallel(...)                                                                 \
    TERN_WITH_(tern_nn_data_parallel, tern_nn_data_parallel, TERN_NN_DATA_PARALLEL, __VA_ARGS__)

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
/// runs on the calling thread. Threads are set as above; the piece's device is that of its first
/// tensor. The first failure, in order, is the call's.
TERN_API TERN_NODISCARD tern_status tern_parallel_apply(tern_module *const *modules,
                                                        const tern_tensors *in, tern_tensors *out,
                                                        int count);

/// Joins `count` pieces, of as many tensors each, on a device: along `dim`, or 0-dim ones to a
/// vector. Gradients flow through.
TERN_API TERN_NODISCARD tern_status tern_gather_batch(const tern_tensors *pieces, int count,
                                                      tern_device device, int dim,
                                                      tern_tensors *out);

// ---- is it right, and models that are split -----------------------------------------------------

/// `tern_parallel_check(parallel, x, y)`.
typedef struct tern_parallel_check_options {
    tern_module *criterion; ///< of output and y; NULL: cross-entropy for integer y, else squares
    double tolerance;       ///< of the largest gradient of a parameter; 1e-4. 16 bits: 2^-6, 2^-3
    char reserved_;
    tern_module *module; ///< data parallel
    tern_tensor *x;      ///< a batch, as it takes one
    tern_tensor *y;      ///< the criterion's target, where outputs are joined
} tern_parallel_check_options;
#define TERN_PARALLEL_CHECK_DEFAULTS_ .criterion = NULL, .tolerance = 1e-4
#define TERN_PARALLEL_CHECK_FIELDS_   3, 0, (module, x, y), (module, tensor, tensor)
TERN_API tern_parallel_check_options tern_parallel_check_defaults(void);
/// Compares the gradients over all devices with those of the first one alone, which runs the same
/// pieces in order: TERN_ERR_NUMERIC names the first parameter that differs. Works on copies of
/// module and criterion, so that nothing of them changes, hooks rest, and there must be memory for
/// two more; draws from the random generators where the module does. TERN_ERR_STATE when dropout
/// makes the two differ: compare in evaluation mode. Other noise makes them differ too.
TERN_API TERN_NODISCARD tern_status
tern_parallel_check_with(const tern_parallel_check_options *options);
#define tern_parallel_check(...)                                                                   \
    tern_status_of_(                                                                               \
        TERN_WITH_(tern_parallel_check, tern_parallel_check, TERN_PARALLEL_CHECK, __VA_ARGS__))

/// `tern_pipeline(net, criterion, x, y, .micro_batches = 8)`.
typedef struct tern_pipeline_options {
    int micro_batches;        ///< pieces of the batch, of ceil(n / micro_batches) samples
    int dim;                  ///< along which x and y are cut
    tern_reduction reduction; ///< the criterion's: the mean unless said, or the sum
    char reserved_;
    tern_module *module;    ///< the model; it moves tensors between its devices itself (tern_to)
    tern_module *criterion; ///< on the device of the outputs
    tern_tensor *x;         ///< the batch
    tern_tensor *y;         ///< its target, on any device
} tern_pipeline_options;
#define TERN_PIPELINE_DEFAULTS_                                                                    \
    .micro_batches = 4, .dim = 0, .reduction = TERN_REDUCTION_UNSPECIFIED
#define TERN_PIPELINE_FIELDS_ 4, 0, (module, criterion, x, y), (module, module, tensor, tensor)
TERN_API tern_pipeline_options tern_pipeline_defaults(void);
/// Forward and backward of a model that is split over devices, one micro-batch after another, as
/// many ahead as the model has devices (1F1B): a device works on one while the next one works on
/// the one before. Gradients are added as by tern_backward: the bits of a loop that runs forward
/// and backward of each micro-batch in order, whose losses count by their share of the batch for a
/// mean. Returns the loss of the batch, 0-dim, without history; the host waits for nothing. NULL on
/// failure (TERN_ERR_SHAPE for a criterion whose loss is not 0-dim): then gradients are those of
/// some micro-batches; call tern_module_zero_grad. Capturing threads are refused where there are
/// several devices (TERN_ERR_STATE).
TERN_API tern_tensor *tern_pipeline_with(const tern_pipeline_options *options);
#define tern_pipeline(...) TERN_WITH_(tern_pipeline, tern_pipeline, TERN_PIPELINE, __VA_ARGS__)

TERN_END_DECLS

#endif
