// SPDX-License-Identifier: Apache-2.0
// Tells at setup whether nvcc and the host compiler behind it work.
__global__ void probe(float *x)
{
    x[threadIdx.x] += 1;
}
