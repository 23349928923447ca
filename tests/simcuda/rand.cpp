// SPDX-License-Identifier: Apache-2.0
// cuRAND's host interface for Philox4x32-10, in the order that NVIDIA documents for it: 65536
// subsequences, interleaved by blocks of four words.
#include "curand.h"

#include <cmath>

#include "capture.h"
#include "device.h"
#include "guard.h"
#include "memory.h"

struct curandGenerator_st {
    int device;
    cudaStream_t stream;
    uint64_t seed, position; // in words
};

namespace sim
{

enum class Fill { words, uniform, normal };

struct Draw {
    Fill fill;
    uint64_t seed, position;
    void *data;
    size_t count;
    float mean, stddev;
};

static uint32_t high(uint64_t product)
{
    return (uint32_t)(product >> 32);
}

static void philox_rounds(uint32_t counter[4], uint32_t key0, uint32_t key1)
{
    for (int round = 0; round < 10; round++, key0 += 0x9E3779B9, key1 += 0xBB67AE85) {
        uint64_t a = (uint64_t)0xD2511F53 * counter[0], b = (uint64_t)0xCD9E8D57 * counter[2];
        uint32_t next0 = high(b) ^ counter[1] ^ key0, next2 = high(a) ^ counter[3] ^ key1;
        counter[1] = (uint32_t)b;
        counter[3] = (uint32_t)a;
        counter[0] = next0;
        counter[2] = next2;
    }
}

static uint32_t word_at(uint64_t seed, uint64_t position)
{
    uint64_t block = position / 4;
    uint32_t counter[4] = {(uint32_t)(block >> 16), (uint32_t)(block >> 48),
                           (uint32_t)(block & 65535), 0};
    philox_rounds(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
    return counter[position % 4];
}

static constexpr float two_to_minus_32 = 2.3283064e-10f;

static float uniform_at(uint64_t seed, uint64_t position)
{
    return (float)word_at(seed, position) * two_to_minus_32 + two_to_minus_32 / 2;
}

// Box-Muller on aligned pairs of words: the first of a pair takes the sine.
static float normal_at(uint64_t seed, uint64_t position)
{
    constexpr float turn = two_to_minus_32 * 6.2831855f;
    uint64_t pair = position & ~(uint64_t)1;
    float radius = sqrtf(-2 * logf(uniform_at(seed, pair)));
    float angle = (float)word_at(seed, pair + 1) * turn + turn / 2;
    return radius * (position & 1 ? cosf(angle) : sinf(angle));
}

static void fill(const Draw &draw)
{
    for (size_t i = 0; i < draw.count; i++) {
        uint64_t at = draw.position + i;
        switch (draw.fill) {
        case Fill::words:
            ((uint32_t *)draw.data)[i] = word_at(draw.seed, at);
            break;
        case Fill::uniform:
            ((float *)draw.data)[i] = uniform_at(draw.seed, at);
            break;
        case Fill::normal:
            ((float *)draw.data)[i] = draw.mean + draw.stddev * normal_at(draw.seed, at);
            break;
        }
    }
}

static curandStatus_t generate(curandGenerator_t generator, Draw draw)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call(current_device(), "curandGenerate");
    if (int code = demanded_failure(TERN_SIM_RAND))
        return (curandStatus_t)code;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    StreamRef stream = stream_of(generator->stream);
    if (call.error)
        return CURAND_STATUS_LAUNCH_FAILURE;
    if (captures(stream))
        broken_rule("cuRAND on a stream that captures: a replay would give the same numbers");
    if (generator->device != stream->device)
        broken_rule("cuRAND: a generator of device %d works on a stream of device %d",
                    generator->device, stream->device);
    check_access("cuRAND", draw.data, draw.count * 4, generator->device);
    draw.seed = generator->seed;
    draw.position = generator->position;
    generator->position += draw.count;
    counts().fills++;
    int device = generator->device;
    cudaError_t error = submit(stream, Kind::other, [draw, device] {
        if (fault_of(device))
            return;
        Reach reach(device);
        fill(draw);
    });
    return error ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

} // namespace sim

using namespace sim;

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    Call call(current_device());
    if (int code = demanded_failure(TERN_SIM_RAND_CREATE))
        return (curandStatus_t)code;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    if (type != CURAND_RNG_PSEUDO_PHILOX4_32_10)
        return CURAND_STATUS_TYPE_ERROR;
    if (call.error || refuse_unsafe())
        return CURAND_STATUS_INITIALIZATION_FAILED;
    *generator = new curandGenerator_st{current_device(), nullptr, 0, 0};
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call;
    delete generator;
    return call.failure ? (curandStatus_t)call.failure->curand : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

// The position stays where it was.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    generator->seed = seed;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    generator->position = offset;
    return CURAND_STATUS_SUCCESS;
}

// These give the same words; the others are refused for this generator.
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t ordering)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    Call call;
    if (call.failure)
        return (curandStatus_t)call.failure->curand;
    switch (ordering) {
    case CURAND_ORDERING_PSEUDO_BEST:
    case CURAND_ORDERING_PSEUDO_DEFAULT:
    case CURAND_ORDERING_PSEUDO_LEGACY:
        return CURAND_STATUS_SUCCESS;
    case CURAND_ORDERING_PSEUDO_SEEDED:
    case CURAND_ORDERING_PSEUDO_DYNAMIC:
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    return CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *words, size_t count)
{
    return generate(generator, {Fill::words, 0, 0, words, count, 0, 0});
}

curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *values, size_t count)
{
    return generate(generator, {Fill::uniform, 0, 0, values, count, 0, 0});
}

curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *values, size_t count,
                                    float mean, float stddev)
{
    if (count % 2)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(generator, {Fill::normal, 0, 0, values, count, mean, stddev});
}
