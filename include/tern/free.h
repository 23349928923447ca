// SPDX-License-Identifier: Apache-2.0
/// @file
/// Frees what constructors made, whatever it is, in one line at the end of a program.
///
///     tern_free(loader, data, opt, criterion, net);
///     return tern_error_print(stderr);
///
/// Each object is given to the function of its type, in the order in which they are listed; any
/// order is right. NULL is fine, so that what could not be made needs no word. Threads: those of
/// the functions.
#ifndef TERN_FREE_H
#define TERN_FREE_H

#include <tern/checkpoint.h>
#include <tern/cuda.h>
#include <tern/cuda_graph.h>
#include <tern/loader.h>
#include <tern/logger.h>
#include <tern/generator.h>
#include <tern/metric.h>
#include <tern/module.h>
#include <tern/optim.h>
#include <tern/progress.h>
#include <tern/sched.h>
#include <tern/state.h>
#include <tern/transform.h>

#ifndef __cplusplus

/// Frees 1 to 8 modules, optimizers, schedulers, datasets, transforms, loaders, metrics, states,
/// generators, checkpoints, loggers, lines of progress, CUDA graphs, streams and events. Another
/// type, a tensor too, does not compile.
#define tern_free(...) TERN_FREE_COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, )(__VA_ARGS__)
/// The macro for so many.
#define TERN_FREE_COUNT_(a, b, c, d, e, f, g, h, count, ...) TERN_FREE_##count##_

// clang-format off
/// One, by the function of its type.
#define TERN_FREE_1_(object)                                                                       \
    _Generic((object),                                                                             \
             tern_module *: tern_module_free,                                                      \
             tern_optim *: tern_optim_free,                                                        \
             tern_sched *: tern_sched_free,                                                        \
             tern_dataset *: tern_dataset_free,                                                    \
             tern_transform *: tern_transform_free,                                                \
             tern_loader *: tern_loader_free,                                                      \
             tern_metric *: tern_metric_free,                                                      \
             tern_sampler *: tern_sampler_free,                                                    \
             tern_state *: tern_state_free,                                                        \
             tern_generator *: tern_generator_free,                                                \
             tern_checkpoint *: tern_checkpoint_free,                                              \
             tern_logger *: tern_logger_free,                                                      \
             tern_progress *: tern_progress_free,                                                  \
             tern_cuda_graph *: tern_cuda_graph_free,                                              \
             tern_cuda_stream *: tern_cuda_stream_free,                                            \
             tern_cuda_event *: tern_cuda_event_free)(object)
// clang-format on
/// Two.
#define TERN_FREE_2_(object, ...) (TERN_FREE_1_(object), TERN_FREE_1_(__VA_ARGS__))
/// Three.
#define TERN_FREE_3_(object, ...) (TERN_FREE_1_(object), TERN_FREE_2_(__VA_ARGS__))
/// Four.
#define TERN_FREE_4_(object, ...) (TERN_FREE_1_(object), TERN_FREE_3_(__VA_ARGS__))
/// Five.
#define TERN_FREE_5_(object, ...) (TERN_FREE_1_(object), TERN_FREE_4_(__VA_ARGS__))
/// Six.
#define TERN_FREE_6_(object, ...) (TERN_FREE_1_(object), TERN_FREE_5_(__VA_ARGS__))
/// Seven.
#define TERN_FREE_7_(object, ...) (TERN_FREE_1_(object), TERN_FREE_6_(__VA_ARGS__))
/// Eight.
#define TERN_FREE_8_(object, ...) (TERN_FREE_1_(object), TERN_FREE_7_(__VA_ARGS__))

#else

namespace tern_cpp_
{

inline void free_one(tern_module *object)
{
    tern_module_free(object);
}
inline void free_one(tern_optim *object)
{
    tern_optim_free(object);
}
inline void free_one(tern_sched *object)
{
    tern_sched_free(object);
}
inline void free_one(tern_dataset *object)
{
    tern_dataset_free(object);
}
inline void free_one(tern_transform *object)
{
    tern_transform_free(object);
}
inline void free_one(tern_loader *object)
{
    tern_loader_free(object);
}
inline void free_one(tern_sampler *object)
{
    tern_sampler_free(object);
}
inline void free_one(tern_metric *object)
{
    tern_metric_free(object);
}
inline void free_one(tern_state *object)
{
    tern_state_free(object);
}
inline void free_one(tern_generator *object)
{
    tern_generator_free(object);
}
inline void free_one(tern_checkpoint *object)
{
    tern_checkpoint_free(object);
}
inline void free_one(tern_logger *object)
{
    tern_logger_free(object);
}
inline void free_one(tern_progress *object)
{
    tern_progress_free(object);
}
inline void free_one(tern_cuda_graph *object)
{
    tern_cuda_graph_free(object);
}
inline void free_one(tern_cuda_stream *object)
{
    tern_cuda_stream_free(object);
}
inline void free_one(tern_cuda_event *object)
{
    tern_cuda_event_free(object);
}

} // namespace tern_cpp_

template <typename... Objects> inline void tern_free(Objects *...objects)
{
    (tern_cpp_::free_one(objects), ...);
}

#endif

#endif
