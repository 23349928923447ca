// SPDX-License-Identifier: Apache-2.0
/// @file
/// Checkpoints: everything that a run needs to go on with the same bits, in one file.
///
///     int64_t step = 0;
///     tern_checkpoint *ck = tern_checkpoint_new("runs/a", .keep_last = 3);
///     if (tern_checkpoint_module(ck, "model", net) || tern_checkpoint_optim(ck, "optim", opt) ||
///         tern_checkpoint_loader(ck, "train", loader) || tern_checkpoint_resume(ck, &step) < 0)
///         return tern_error_print(stderr);
///     ...
///     if (tern_checkpoint_save(ck, step))
///         return tern_error_print(stderr);
///     tern_checkpoint_free(ck);
///
/// A checkpoint is a list of named parts and a folder of files, "step-00001200.safetensors", each
/// whole or not there: a run that is killed at any moment leaves the one before or the new one.
/// Beside the parts a file has the default generators of all devices in use, and a part
/// "checkpoint": "checkpoint.version", ".step", ".tern" (the version that wrote it), ".saved"
/// (UTC), ".metric_name" and ".metric". Any reader of safetensors opens it; tern_state_read does.
///
/// Modules, optimizers, schedulers and tensors are held; loaders, generators, numbers and objects
/// of your own are borrowed, and have to be there when the checkpoint is saved and resumed. Failed
/// calls return NULL, a status or -1, with an error pending. Waits for the devices and the disk.
/// Threads: a checkpoint is used by one thread at a time; several processes may save into one
/// folder.
#ifndef TERN_CHECKPOINT_H
#define TERN_CHECKPOINT_H

#include <math.h>
#include <tern/options.h>
#include <tern/loader.h>
#include <tern/error.h>
#include <tern/generator.h>
#include <tern/module.h>
#include <tern/optim.h>
#include <tern/sched.h>
#include <tern/state.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Named parts, and the folder that they are saved to.
typedef struct tern_checkpoint tern_checkpoint;
TERN_REQUIRED_TYPE_(checkpoint, tern_checkpoint *)

/// `tern_checkpoint_new("runs/a", .keep_last = 3, .keep_best = "accuracy", .mode = TERN_MAX)`.
typedef struct tern_checkpoint_new_options {
    int64_t keep_last;     ///< files that stay when a new one is saved: it and those of the
                           ///< greatest steps; 0: all
    const char *keep_best; ///< the name of the .metric whose best checkpoint is kept, or NULL
    tern_metric_mode mode; ///< which one is the best; required with .keep_best
    char reserved_;
    const char *folder; ///< where the files are; made when it is not there
} tern_checkpoint_new_options;
#define TERN_CHECKPOINT_NEW_DEFAULTS_                                                              \
    .keep_last = 0, .keep_best = NULL, .mode = TERN_MODE_UNSPECIFIED
#define TERN_CHECKPOINT_NEW_FIELDS_ 1, 0, (folder), (text)
TERN_API tern_checkpoint_new_options tern_checkpoint_new_defaults(void);
/// A checkpoint without parts; freed with tern_checkpoint_free. With .keep_best the file of the
/// best metric so far, also of earlier processes, is there as "best.safetensors" as well, and stays
/// when .keep_last takes its first name away. One folder is for one run. NULL on failure:
/// TERN_ERR_IO when the folder cannot be made, or is something else.
TERN_API tern_checkpoint *tern_checkpoint_new_with(const tern_checkpoint_new_options *options);
#define tern_checkpoint_new(...)                                                                   \
    TERN_WITH_(tern_checkpoint_new, tern_checkpoint_new, TERN_CHECKPOINT_NEW, __VA_ARGS__)
/// Frees it and gives back what it holds; files stay. NULL is fine; one that was freed is
/// TERN_ERR_STATE, here and wherever it is used.
TERN_API void tern_checkpoint_free(tern_checkpoint *checkpoint);

// ---- parts --------------------------------------------------------------------------------------
// Each adds a part; its values are named "name" or "name.<value>". Names are those of a state
// (state.h), each given once, and neither "checkpoint" nor "generators" (TERN_ERR_ARG). Not from a
// visit function that the checkpoint runs (TERN_ERR_STATE).

/// The parameters and buffers of a module, by PyTorch's names; the checkpoint has a reference.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_module(tern_checkpoint *checkpoint,
                                                           const char *name, tern_module *module);
/// The state and the numbers of an optimizer, by the names of its parameters; likewise.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_optim(tern_checkpoint *checkpoint,
                                                          const char *name, tern_optim *optim);
/// Where a scheduler is; the checkpoint has a reference. Its optimizer is a part of its own.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_sched(tern_checkpoint *checkpoint,
                                                          const char *name, tern_sched *sched);
/// Where a loader is, also in the middle of an epoch: save inside the loop, which gives its epoch
/// up when it is left. Borrowed.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_loader(tern_checkpoint *checkpoint,
                                                           const char *name, tern_loader *loader);
/// A generator of your own; borrowed. The default ones are saved anyway.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_generator(tern_checkpoint *checkpoint,
                                                              const char *name,
                                                              tern_generator *generator);
/// A number; borrowed.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_number(tern_checkpoint *checkpoint,
                                                           const char *name, double *number);
/// An integer; borrowed.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_int(tern_checkpoint *checkpoint,
                                                        const char *name, int64_t *integer);
/// A tensor, which is loaded in place; held.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_tensor(tern_checkpoint *checkpoint,
                                                           const char *name, tern_tensor *tensor);
/// Whatever has a visit function; `object`, which it is handed, is borrowed.
TERN_API TERN_NODISCARD tern_status tern_checkpoint_add(tern_checkpoint *checkpoint,
                                                        const char *name, tern_visit_fn *visit,
                                                        void *object);

// ---- saving and resuming ------------------------------------------------------------------------

/// `tern_checkpoint_save(ck, step, .metric = accuracy)`.
typedef struct tern_checkpoint_save_options {
    double metric; ///< of .keep_best; NAN, which is never the best: there is none
    char reserved_;
    tern_checkpoint *checkpoint; ///< what is saved
    int64_t step;                ///< 0 or more; names the file
} tern_checkpoint_save_options;
#define TERN_CHECKPOINT_SAVE_DEFAULTS_ .metric = NAN
#define TERN_CHECKPOINT_SAVE_FIELDS_   2, 0, (checkpoint, step), (checkpoint, int64)
TERN_API tern_checkpoint_save_options tern_checkpoint_save_defaults(void);
/// Saves all parts as they are now, over the file of the same step. When it returns TERN_OK they
/// are on the disk, and only then does .keep_last take older files away. TERN_ERR_STATE, and
/// nothing is saved, where an error is pending, where a failed backward or step left a gradient of
/// a part unusable, and while the calling thread captures; TERN_ERR_IO when the disk refuses.
TERN_API TERN_NODISCARD tern_status
tern_checkpoint_save_with(const tern_checkpoint_save_options *options);
#define tern_checkpoint_save(...)                                                                  \
    tern_status_of_(                                                                               \
        TERN_WITH_(tern_checkpoint_save, tern_checkpoint_save, TERN_CHECKPOINT_SAVE, __VA_ARGS__))

/// Loads the file of the greatest step, all or nothing, and sets `*step` to its step; returns 1. 0:
/// there is none, and nothing has changed. A file that is damaged or cannot be read is passed over,
/// with a warning, and the next one is taken, "best.safetensors" at last. -1 on failure, with
/// nothing changed: when no file can be read (the code is that of the newest), and, for the newest
/// one that can be read, what tern_state_load says when it does not fit, and TERN_ERR_UNSUPPORTED
/// when it is of a later version. Devices may be others than those that the run was on; default
/// generators of devices that are not here are left out. TERN_ERR_STATE where an error is pending
/// or the calling thread captures.
TERN_API int tern_checkpoint_resume(tern_checkpoint *checkpoint, int64_t *step);
/// How many files the last tern_checkpoint_resume passed over; -1 on failure.
TERN_API int64_t tern_checkpoint_passed_over(const tern_checkpoint *checkpoint);
/// The sentence that says why it did so with file `index`; valid until the next call of it. NULL
/// with TERN_ERR_INDEX.
TERN_API const char *tern_checkpoint_passed_over_at(const tern_checkpoint *checkpoint,
                                                    int64_t index);

// ---- weights alone ------------------------------------------------------------------------------

/// Writes the state dict of a module to a file, as tern_state_write does.
TERN_API TERN_NODISCARD tern_status tern_module_save(tern_module *module, const char *path);
/// Reads a file and loads it into a module, all or nothing: to the devices that its parameters are
/// on, wherever they were saved. Fails as tern_state_read and tern_module_load_state_dict.
TERN_API TERN_NODISCARD tern_status tern_module_load(tern_module *module, const char *path);

// ---- exchange with PyTorch ----------------------------------------------------------------------

/// Writes an optimizer's state as torch.save(optimizer.state_dict(), path) does, over what has the
/// name: parameters by their place over all groups, with "param_names" where they are a module's,
/// and the numbers of the groups. The same kind of optimizer over parameters of the same shapes in
/// the same groups loads it in PyTorch. LBFGS's has no "al", which PyTorch computes anew.
/// TERN_ERR_IO when the disk refuses; TERN_ERR_STATE while the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_optim_save_torch(tern_optim *optim, const char *path);

/// `tern_optim_load_torch(opt, "run.pt", .prefix = "optimizer.")`.
typedef struct tern_optim_load_torch_options {
    const char *prefix; ///< where in a checkpoint dictionary the state is, or NULL: it is the file
    bool numbers;       ///< the groups' numbers are loaded, the learning rate too
    char reserved_;
    tern_optim *optim; ///< that is loaded into
    const char *path;  ///< what torch.save wrote
} tern_optim_load_torch_options;
#define TERN_OPTIM_LOAD_TORCH_DEFAULTS_ .prefix = NULL, .numbers = true
#define TERN_OPTIM_LOAD_TORCH_FIELDS_   2, 0, (optim, path), (optim, text)
TERN_API tern_optim_load_torch_options tern_optim_load_torch_defaults(void);
/// Loads the state_dict of PyTorch's optimizer of the same kind, all or nothing: parameters by
/// "param_names" where the file and the optimizer have names, else by their place, with shapes that
/// are checked; of LBFGS, whose vectors have all parameters one after another, names of another
/// order are refused. State tensors come to where the parameters are. SGD's and LBFGS's updates are
/// not counted in such a file, and become 0. TERN_ERR_FORMAT for a file that is none, that is of
/// another kind of optimizer, or whose groups or counts of updates do not fit; else fails as
/// tern_optim_load_state_dict and tern_state_read, and with TERN_ERR_STATE while the calling thread
/// captures.
TERN_API TERN_NODISCARD tern_status
tern_optim_load_torch_with(const tern_optim_load_torch_options *options);
#define tern_optim_load_torch(...)                                                                 \
    tern_status_of_(TERN_WITH_(tern_optim_load_torch, tern_optim_load_torch,                       \
                               TERN_OPTIM_LOAD_TORCH, __VA_ARGS__))

TERN_END_DECLS

#endif
