// SPDX-License-Identifier: Apache-2.0
// Fills by cuRAND: Philox4x32-10 in the legacy ordering, which its documentation promises never to
// change. A fill takes words (of 32 bits) from the generator's Philox offset on, and advances the
// offset past them to a multiple of 4; random.cu makes elements of the words.
#include "cuda/host/random.h"

#include "base/error.h"
#include "cuda/host/current.h"
#include "cuda/host/launch.h"
#include "cuda/kernels.h"
#include "device/generator.h"

#define CHUNK ((int64_t)1 << 24) // elements at a time; a multiple of 4

static tern_status check_random(const char *op, curandStatus_t status)
{
    if (status == CURAND_STATUS_SUCCESS)
        return TERN_OK;
    cudaGetLastError();
    bool memory = status == CURAND_STATUS_ALLOCATION_FAILED;
    return tern_error_raise(memory ? TERN_ERR_NOMEM : TERN_ERR_DEVICE, "%s: cuRAND: %s (status %d)",
                            op, memory ? "no memory" : "it failed", (int)status);
}

static curandStatus_t generator_new(tern_cuda_stream *stream)
{
    curandGenerator_t made = NULL;
    curandStatus_t status = curandCreateGenerator(&made, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    if (status != CURAND_STATUS_SUCCESS)
        return status;
    status = curandSetGeneratorOrdering(made, CURAND_ORDERING_PSEUDO_LEGACY);
    if (status == CURAND_STATUS_SUCCESS)
        status = curandSetStream(made, stream->stream);
    if (status == CURAND_STATUS_SUCCESS)
        stream->random = made;
    else
        curandDestroyGenerator(made);
    return status;
}

void tern_cuda_random_free(tern_cuda_stream *stream)
{
    if (stream->random)
        curandDestroyGenerator(stream->random);
    stream->random = NULL;
}

// Setting the seed leaves cuRAND's offset as it was, so the offset is set after it.
static curandStatus_t generate(tern_cuda_stream *stream, const tern_generator *generator,
                               uint32_t *words, int64_t count)
{
    curandStatus_t status = stream->random ? CURAND_STATUS_SUCCESS : generator_new(stream);
    if (status == CURAND_STATUS_SUCCESS)
        status = curandSetPseudoRandomGeneratorSeed(stream->random, generator->seed);
    if (status == CURAND_STATUS_SUCCESS)
        status = curandSetGeneratorOffset(stream->random, generator->position);
    if (status == CURAND_STATUS_SUCCESS)
        status = curandGenerate(stream->random, words, (size_t)count);
    return status;
}

static tern_status draw(int index, const tern_generator *generator, uint32_t *words, int64_t count)
{
    tern_cuda_stream *stream = tern_cuda_current_stream(index);
    pthread_mutex_lock(&stream->lock);
    tern_cuda_capture_mode_relaxed_begin();
    curandStatus_t status = generate(stream, generator, words, count);
    tern_cuda_capture_mode_relaxed_end();
    pthread_mutex_unlock(&stream->lock);
    return check_random("random", status);
}

// How many words the elements take: whole Philox blocks of 4.
static int64_t words_in_blocks(tern_random_kind kind, tern_dtype dtype, int64_t numel)
{
    return (tern_cuda_word_count(kind, dtype, numel) + 3) / 4 * 4;
}

static tern_strided slice(const tern_strided *y, int64_t first, int64_t numel)
{
    tern_strided view = {.dtype = y->dtype, .rank = 1, .size = {numel}, .stride = {1}};
    view.data = (char *)y->data + first * (int64_t)tern_dtype_size(y->dtype);
    return view;
}

tern_status tern_cuda_random(const tern_exec *exec, const tern_random_args *args,
                             tern_generator *generator, const tern_strided *y)
{
    const int64_t numel = tern_strided_numel(y);
    if (numel == 0)
        return TERN_OK;
    TERN_CHECK(!tern_cuda_current_capture_on(exec->device.index), TERN_ERR_UNSUPPORTED,
               "random fills cannot be captured: fill before, or use dropout");
    tern_cuda_scratch scratch;
    const int64_t capacity = words_in_blocks(args->kind, y->dtype, numel < CHUNK ? numel : CHUNK);
    TERN_TRY(tern_cuda_scratch_take(exec, capacity * (int64_t)sizeof(uint32_t), &scratch));
    const uint64_t before = generator->position;
    tern_status status = TERN_OK;
    for (int64_t first = 0; first < numel && !status; first += CHUNK) {
        const int64_t count = numel - first < CHUNK ? numel - first : CHUNK;
        const int64_t words = words_in_blocks(args->kind, y->dtype, count);
        const tern_strided chunk = slice(y, first, count);
        status = draw(exec->device.index, generator, scratch.data, words);
        if (!status)
            status = tern_cuda_from_words(exec, args, scratch.data, &chunk);
        generator->position += (uint64_t)words;
    }
    if (status)
        generator->position = before;
    tern_cuda_scratch_free(exec, &scratch);
    return status;
}
