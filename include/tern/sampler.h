// SPDX-License-Identifier: Apache-2.0
/// @file
/// Samplers: which samples an epoch has, and in which order.
///
///     double weights[] = {0.1, 0.9, 0.4};                   // one for each sample of `set`
///     tern_sampler *sampler = tern_sampler_weighted(weights, 3, 100);
///     tern_loader *loader = tern_loader_new(set, .batch_size = 10, .sampler = sampler);
///     tern_sampler_free(sampler);                           // the loader holds it
///
/// `tern_loader_new(set, .shuffle = true)` needs none: it is as tern_sampler_random over all
/// samples. A sampler keeps nothing of an epoch: its order follows from the generator alone, so
/// that a loader that is resumed draws it again. It counts its references, and loaders and samplers
/// over it hold one. Threads: a sampler is used by one thread at a time; its reference count is
/// atomic.
#ifndef TERN_SAMPLER_H
#define TERN_SAMPLER_H

#include <tern/options.h>
#include <tern/error.h>
#include <tern/generator.h>

TERN_BEGIN_DECLS

/// Gives the numbers of an epoch's samples.
typedef struct tern_sampler tern_sampler;
TERN_REQUIRED_TYPE_(sampler, tern_sampler *)
TERN_REQUIRED_TYPE_(doubles, const double *)

/// One more reference. Returns the sampler. NULL stays NULL.
TERN_API tern_sampler *tern_sampler_retain(tern_sampler *sampler);
/// Gives a reference back; the last one frees the sampler. NULL is fine.
TERN_API void tern_sampler_free(tern_sampler *sampler);
/// How many numbers an epoch has; -1 on failure.
TERN_API int64_t tern_sampler_count(const tern_sampler *sampler);
/// Writes the numbers of an epoch to `order`, which has room for tern_sampler_count of them, drawn
/// from `generator`, which is NULL for the CPU's default one. TERN_ERR_STATE when the sampler gives
/// a negative one.
TERN_API TERN_NODISCARD tern_status tern_sampler_order(const tern_sampler *sampler,
                                                       tern_generator *generator, int64_t *order);

/// The numbers 0 to count - 1 in that order (PyTorch's SequentialSampler). NULL on failure
/// (TERN_ERR_ARG when count < 0).
TERN_API tern_sampler *tern_sampler_sequential(int64_t count);

/// `tern_sampler_random(1000, .replacement = true, .num_samples = 250)`.
typedef struct tern_sampler_random_options {
    bool replacement;    ///< each number is drawn from all of them
    int64_t num_samples; ///< numbers in an epoch, >= 1; 0: as many as there are
    char reserved_;
    int64_t count; ///< the numbers are 0 to count - 1; >= 1
} tern_sampler_random_options;
#define TERN_SAMPLER_RANDOM_DEFAULTS_ .replacement = false, .num_samples = 0
#define TERN_SAMPLER_RANDOM_FIELDS_   1, 0, (count), (int64)
TERN_API tern_sampler_random_options tern_sampler_random_defaults(void);
/// Random numbers (PyTorch's RandomSampler, its bits): without replacement permutations of all
/// numbers behind each other, the last one cut. Without a generator of the loader's own the epoch
/// draws one int64 from the default one, which seeds the permutations. NULL on failure
/// (TERN_ERR_ARG).
TERN_API tern_sampler *tern_sampler_random_with(const tern_sampler_random_options *options);
#define tern_sampler_random(...)                                                                   \
    TERN_WITH_(tern_sampler_random, tern_sampler_random, TERN_SAMPLER_RANDOM, __VA_ARGS__)

/// `tern_sampler_weighted(weights, count, 1000, .replacement = false)`.
typedef struct tern_sampler_weighted_options {
    bool replacement; ///< a number may be drawn more than once
    char reserved_;
    const double *weights; ///< (count): each finite and 0 or more, not all 0; copied
    int64_t count;         ///< how many weights; >= 1
    int64_t num_samples;   ///< numbers in an epoch; >= 1
} tern_sampler_weighted_options;
#define TERN_SAMPLER_WEIGHTED_DEFAULTS_ .replacement = true
#define TERN_SAMPLER_WEIGHTED_FIELDS_   3, 0, (weights, count, num_samples), (doubles, int64, int64)
TERN_API tern_sampler_weighted_options tern_sampler_weighted_defaults(void);
/// Random numbers, each as likely as its weight's share of their sum (PyTorch's
/// WeightedRandomSampler, its bits: tern_multinomial of float64). NULL on failure: TERN_ERR_ARG,
/// also for fewer weights above 0 than samples without replacement; TERN_ERR_NUMERIC for a weight
/// that is negative or not finite and for a sum that is not above 0.
TERN_API tern_sampler *tern_sampler_weighted_with(const tern_sampler_weighted_options *options);
#define tern_sampler_weighted(...)                                                                 \
    TERN_WITH_(tern_sampler_weighted, tern_sampler_weighted, TERN_SAMPLER_WEIGHTED, __VA_ARGS__)

/// The numbers of `sampler`, which it holds a reference of, in batches of `batch_size` (PyTorch's
/// BatchSampler); a last one that is not full is left out with `drop_last`. Loaders take their
/// batches from it. NULL on failure (TERN_ERR_ARG when batch_size < 1).
TERN_API tern_sampler *tern_sampler_batch(tern_sampler *sampler, int64_t batch_size,
                                          bool drop_last);

// ---- a sampler of your own ----------------------------------------------------------------------
//
// Each second sample.
//
//     typedef struct even { tern_sampler base; int64_t count; } even;
//
//     static int64_t count(const tern_sampler *self) { return ((const even *)self)->count; }
//
//     static tern_status order(const tern_sampler *self, tern_generator *generator, int64_t *order)
//     {
//         for (int64_t i = 0; i < count(self); i++)
//             order[i] = 2 * i;
//         return TERN_OK;
//     }
//     static const tern_sampler_class even_class = {
//         .name = "even", .size = sizeof(even), .count = count, .order = order};
//
//     even *sampler = (even *)tern_sampler_new(&even_class);

/// How many numbers an epoch has, >= 0.
typedef int64_t tern_sampler_count_fn(const tern_sampler *self);
/// Writes them, each the number of a sample. What is random comes from `generator` alone (tern_rand
/// and the like with `.generator`), which is the loader's own or the default one, or has its state.
typedef tern_status tern_sampler_order_fn(const tern_sampler *self, tern_generator *generator,
                                          int64_t *order);
/// Cuts the `count` numbers of an epoch into batches: writes their sizes, each 1 or more, in sum
/// `count` or less (the rest is left out), and returns how many. `sizes` has room for `count`.
/// `order` and `sizes` are NULL when it is only asked how many; -1 then when that is not known.
typedef int64_t tern_sampler_batches_fn(const tern_sampler *self, const int64_t *order,
                                        int64_t count, int64_t *sizes);
/// Frees what the sampler holds, but not `self`.
typedef void tern_sampler_free_fn(tern_sampler *self);

/// A kind of sampler; static storage. Initialise it by name: members may be added in the middle.
typedef struct tern_sampler_class {
    const char *name;                 ///< in messages
    size_t size;                      ///< bytes of the struct that begins with a tern_sampler
    tern_sampler_count_fn *count;     ///< required
    tern_sampler_order_fn *order;     ///< required
    tern_sampler_batches_fn *batches; ///< may be NULL: batches are the loader's
    tern_sampler_free_fn *free;       ///< may be NULL
    bool fresh_generator; ///< where the loader has no generator of its own `order` gets a new one,
                          ///< seeded by an int64 drawn from the default one
} tern_sampler_class;

/// The first member of every sampler's struct.
struct tern_sampler {
    const tern_sampler_class *klass; ///< set by tern_sampler_new
    int64_t refs_;                   ///< the library's own
};

/// A sampler with one reference, the rest of its struct zeroed. NULL on failure.
TERN_API tern_sampler *tern_sampler_new(const tern_sampler_class *sampler_class);

TERN_END_DECLS

#endif
