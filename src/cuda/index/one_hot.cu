// SPDX-License-Identifier: Apache-2.0
// y[n, c] = label[n] == c, one thread an element
#include "cuda/fast_divide.cuh"
#include "cuda/fault.cuh"
#include "cuda/loop.cuh"

struct one_hot_job {
    int64_t *y;            // (N, C)
    const int64_t *labels; // (N)
    int64_t numel, stride;
    int64_divisor classes;
    tern_fault *fault;
    uint32_t location;
};

__global__ void __launch_bounds__(LOOP_THREADS) one_hot(one_hot_job job)
{
    const int64_t i = loop_thread();
    if (i >= job.numel)
        return;
    int64_t c = i;
    const int64_t n = fast_divmod(&c, job.classes);
    const int64_t label = job.labels[n * job.stride];
    job.y[i] = label == c;
    if (c == 0 && (label < 0 || label >= (int64_t)job.classes.size))
        fault_report(job.fault, job.location, n, label);
}

extern "C" tern_status tern_cuda_one_hot(const tern_exec *exec, const tern_strided *y,
                                         const tern_strided *labels)
{
    const int64_t numel = tern_strided_numel(y);
    const one_hot_job job = {(int64_t *)y->data, (const int64_t *)labels->data,  numel,
                             labels->stride[0],  make_int64_divisor(y->size[1]), exec->fault,
                             exec->location};
    if (numel == 0)
        return TERN_OK;
    return LAUNCH("one_hot", one_hot, loop_blocks(numel), LOOP_THREADS, exec->stream, job);
}
