// SPDX-License-Identifier: Apache-2.0
/// @file
/// Saving and loading what a run needs.
///
///     if (tern_optim_save_torch(opt, "optimizer.pt"))  // torch.load, then load_state_dict
///         tern_error_print(stderr);
///     if (tern_optim_load_torch(opt, "run.ckpt", .prefix = "optimizer."))
///         tern_error_print(stderr);
///
/// Failed calls return a status, with an error pending. They wait for the devices and the disk.
/// Threads: an object is used by one thread at a time.
#ifndef TERN_CHECKPOINT_H
#define TERN_CHECKPOINT_H

#include <tern/optim.h>

TERN_BEGIN_DECLS

// ---- exchange with PyTorch ----------------------------------------------------------------------

/// Writes an optimizer's state as torch.save(optimizer.state_dict(), path) does, over what has the
/// name: parameters by their place over all groups, with "param_names" where they are a module's,
/// and the numbers of the groups. The same kind of optimizer over parameters of the same shapes in the same groups loads
/// it in PyTorch. TERN_ERR_IO when the disk refuses; TERN_ERR_STATE while the calling thread
/// captures.
TERN_API TERN_NODISCARD tern_status tern_optim_save_torch(tern_optim *optim, const char *path);

/// `tern_optim_load_torch(opt, "run.pt", .prefix = "optimizer.")`.
typedef struct tern_optim_load_torch_options {
    const char *prefix; ///< where in a checkpoint dictionary the state is, or NULL: it is the file
    bool numbers;       ///< the groups' numbers are loaded, the learning rate too; true
    char reserved_;
    tern_optim *optim; ///< that is loaded into
    const char *path;  ///< what torch.save wrote
} tern_optim_load_torch_options;
TERN_API tern_optim_load_torch_options tern_optim_load_torch_defaults(void);
/// Loads the state_dict of PyTorch's optimizer of the same kind, all or nothing: parameters by
/// "param_names" where the file and the optimizer have names, else by their place, with shapes that
/// are checked. State
/// tensors come to where the parameters are. SGD's updates are not counted in such a file, and
/// become 0. TERN_ERR_FORMAT for a file that is none, that is of another kind of optimizer, or
/// whose groups or counts of updates do not fit; else fails as tern_optim_load_state_dict and
/// tern_state_read.
TERN_API TERN_NODISCARD tern_status
tern_optim_load_torch_with(const tern_optim_load_torch_options *options);
#define tern_optim_load_torch(...)                                                                 \
    tern_status_of_(TERN_WITH_(tern_optim_load_torch, (TERN_FIELDS_2_, optim, path),               \
                               (.prefix = NULL, .numbers = true, .reserved_ = 0,                   \
                                TERN_REQUIRED_2_(optim, text, __VA_ARGS__, )),                     \
                               __VA_ARGS__))

TERN_END_DECLS

#endif
