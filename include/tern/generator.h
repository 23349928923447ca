// SPDX-License-Identifier: Apache-2.0
/// @file
/// Generators: streams of random numbers, their seeds and states.
///
///     tern_manual_seed(42);
///
/// Every device has a default generator, owned by the library; one of your own is freed by you.
/// Failed calls return NULL or a status, with an error pending. Threads: default generators are
/// locked; a generator of your own is used by one thread at a time.
#ifndef TERN_GENERATOR_H
#define TERN_GENERATOR_H

#include <tern/device.h>

TERN_BEGIN_DECLS

/// A stream of random numbers.
typedef struct tern_generator tern_generator;

/// Seeds the default generators of all devices, and dropout. While the calling
/// thread captures a CUDA device it does nothing but raise TERN_ERR_STATE.
TERN_API void tern_manual_seed(uint64_t seed);

/// A generator of your own, for tensors on any device; freed with tern_generator_free. NULL on
/// failure.
TERN_API tern_generator *tern_generator_new(uint64_t seed);
/// Frees a generator of your own; one that was freed already is TERN_ERR_STATE, here and wherever
/// it is used. NULL is fine.
TERN_API void tern_generator_free(tern_generator *generator);
/// Starts the stream of `seed` anew. Fails with TERN_ERR_NULL, and TERN_ERR_STATE
/// for a freed one.
TERN_API TERN_NODISCARD tern_status tern_generator_seed(tern_generator *generator, uint64_t seed);
/// The default generator of a device, owned by the library; NULL with TERN_ERR_DEVICE.
TERN_API tern_generator *tern_default_generator(tern_device device);

/// Bytes that tern_generator_save needs.
TERN_API size_t tern_generator_state_size(void);
/// Copies the state into `state`; a default generator's includes that of the dropout on its
/// device. `state` has `size` >= tern_generator_state_size() bytes.
TERN_API TERN_NODISCARD tern_status tern_generator_save(const tern_generator *generator,
                                                        void *state, size_t size);
/// Goes back to a saved state; TERN_ERR_FORMAT when the bytes are not one, then nothing changes.
TERN_API TERN_NODISCARD tern_status tern_generator_load(tern_generator *generator,
                                                        const void *state, size_t size);

/// Bytes of torch.get_rng_state() for the CPU.
#define TERN_TORCH_GENERATOR_SIZE 5056

/// Writes the state as torch.get_rng_state() gives it: PyTorch's CPU generator with these bytes
/// (torch.set_rng_state) goes on with the numbers that `generator` would draw for tensors on the
/// CPU. `bytes` has `size` >= TERN_TORCH_GENERATOR_SIZE bytes. TERN_ERR_STATE for a state that
/// PyTorch does not have; no generator comes to it by drawing.
TERN_API TERN_NODISCARD tern_status tern_generator_to_torch(const tern_generator *generator,
                                                            void *bytes, size_t size);
/// Goes on with the numbers of the generator whose torch.get_rng_state() these `size` bytes are.
/// Tensors on CUDA devices, which PyTorch draws otherwise, start the stream of its seed anew;
/// dropout goes on. TERN_ERR_FORMAT when the bytes are not such a state, then nothing changes.
TERN_API TERN_NODISCARD tern_status tern_generator_from_torch(tern_generator *generator,
                                                              const void *bytes, size_t size);

TERN_END_DECLS

#endif
