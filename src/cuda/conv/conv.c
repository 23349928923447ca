// SPDX-License-Identifier: Apache-2.0
// Convolutions: which kernel makes one. With one tap, which reads every element, a convolution is a
// product of matrices: (C, H W) of each image, or of all images at once where H W is 1. Those are
// cuBLAS's, unless bias or relu would take one more pass over the result.
#include "cuda/conv/conv.h"

#include "base/error.h"
#include "cuda/host/blas.h"
#include "cuda/host/launch.h"
#include "device/kernel_dtype.h"

#define FEW_ROWS 16 // channels of output in a group; tensor cores make more of them at once

// Numbers that kernels have in 32 bits; sums of three do not overflow.
static bool fits(int64_t number)
{
    return number < (int64_t)1 << 29;
}

static bool volume_fits(const tern_strided *view, int first)
{
    int64_t volume = 1;
    for (int d = first; d < 5; d++) {
        if (!fits(view->size[d]))
            return false;
        volume *= view->size[d] > 0 ? view->size[d] : 1;
        if (!fits(volume))
            return false;
    }
    return true;
}

static int64_t spatial_size(const tern_strided *view)
{
    return view->size[2] * view->size[3] * view->size[4];
}

static bool steps_fit(const tern_conv_args *args, int d)
{
    const int64_t taps = args->weight.size[2 + d];
    return fits(args->padding[d]) && (args->y.size[2 + d] == 1 || fits(args->stride[d])) &&
           (taps == 1 || fits(args->dilation[d]));
}

static tern_status check(const char *name, const tern_conv_args *args)
{
    TERN_TRY(tern_kernel_floating(name, args->y.dtype));
    TERN_CHECK(volume_fits(&args->x, 2) && volume_fits(&args->y, 2) &&
                   volume_fits(&args->weight, 1) && fits(args->y.size[1]) &&
                   fits(args->y.size[1] * args->weight.size[1]) &&
                   fits(args->y.size[1] / args->groups * spatial_size(&args->weight)) &&
                   steps_fit(args, 0) && steps_fit(args, 1) && steps_fit(args, 2),
               TERN_ERR_UNSUPPORTED,
               "%s: on CUDA devices the elements of a channel, of a filter and of all filters of a "
               "channel, strides, paddings and dilations must be below 2^29",
               name);
    return TERN_OK;
}

// ---- products -----------------------------------------------------------------------------------

static bool is_product(const tern_conv_args *args)
{
    if (args->groups != 1 || spatial_size(&args->weight) != 1)
        return false;
    for (int d = 0; d < 3; d++)
        if (args->padding[d] != 0 || args->x.size[2 + d] != args->y.size[2 + d] ||
            (args->stride[d] != 1 && args->y.size[2 + d] != 1))
            return false;
    return spatial_size(&args->x) == 1 || !(args->bias || args->relu);
}

static tern_strided matrix(const tern_strided *of, int64_t batch, int64_t rows, int64_t cols)
{
    return (tern_strided){of->data, of->dtype, 3, {batch, rows, cols}, {rows * cols, cols, 1}};
}

static tern_strided transposed(tern_strided x)
{
    const int64_t rows = x.size[1], stride = x.stride[1];
    x.size[1] = x.size[2];
    x.stride[1] = x.stride[2];
    x.size[2] = rows;
    x.stride[2] = stride;
    return x;
}

// The weight as a (K, C) matrix, the same for each of the images.
static tern_strided filters(const tern_conv_args *args, int64_t images)
{
    tern_strided w = matrix(&args->weight, images, args->y.size[1], args->x.size[1]);
    w.stride[0] = 0;
    return w;
}

static tern_strided image_matrices(const tern_strided *view)
{
    const int64_t volume = spatial_size(view);
    return volume == 1 ? matrix(view, 1, view->size[0], view->size[1])
                       : matrix(view, view->size[0], view->size[1], volume);
}

static tern_status multiply(const tern_exec *exec, const tern_conv_args *args, tern_strided y,
                            tern_strided a, tern_strided b)
{
    const tern_matmul_args product = {.y = y,
                                      .a = a,
                                      .b = b,
                                      .bias = args->bias,
                                      .relu = args->relu,
                                      .accumulate = args->accumulate};
    return tern_cuda_matmul(exec, &product);
}

static tern_status forward_product(const tern_exec *exec, const tern_conv_args *args)
{
    const tern_strided x = image_matrices(&args->x), y = image_matrices(&args->y);
    if (spatial_size(&args->x) == 1)
        return multiply(exec, args, y, x, transposed(filters(args, 1)));
    return multiply(exec, args, y, filters(args, y.size[0]), x);
}

static tern_status backward_product(const tern_exec *exec, const tern_conv_args *args)
{
    const tern_strided x = image_matrices(&args->x), y = image_matrices(&args->y);
    if (spatial_size(&args->x) == 1)
        return multiply(exec, args, x, y, filters(args, 1));
    return multiply(exec, args, x, transposed(filters(args, y.size[0])), y);
}

// Of one image, or of images with one element in each channel: else it is a sum of products.
static tern_status weight_product(const tern_exec *exec, const tern_conv_args *args)
{
    const tern_strided x = image_matrices(&args->x), y = image_matrices(&args->y);
    if (spatial_size(&args->x) == 1)
        return multiply(exec, args, filters(args, 1), transposed(y), x);
    return multiply(exec, args, filters(args, 1), y, transposed(x));
}

// ---- launchers ----------------------------------------------------------------------------------

static bool on_tensor_cores(const tern_exec *exec, tern_dtype dtype)
{
    return dtype != TERN_FLOAT64 && (dtype != TERN_FLOAT32 || tern_cuda_tf32()) &&
           tern_cuda_capability(exec->device.index) >= 8;
}

static tern_status gather(const tern_exec *exec, const tern_conv_args *args, bool backward)
{
    const int64_t rows = backward ? args->weight.size[1] : args->y.size[1] / args->groups;
    return rows > FEW_ROWS && on_tensor_cores(exec, args->y.dtype)
               ? tern_cuda_conv_gather_tensor(exec, args, backward)
               : tern_cuda_conv_gather(exec, args, backward);
}

tern_status tern_cuda_conv(const tern_exec *exec, const tern_conv_args *args)
{
    TERN_TRY(check("conv", args));
    if (tern_strided_numel(&args->y) == 0)
        return TERN_OK;
    return is_product(args) ? forward_product(exec, args) : gather(exec, args, false);
}

tern_status tern_cuda_conv_grad_input(const tern_exec *exec, const tern_conv_args *args)
{
    TERN_TRY(check("conv_grad_input", args));
    if (tern_strided_numel(&args->x) == 0)
        return TERN_OK;
    return is_product(args) ? backward_product(exec, args) : gather(exec, args, true);
}

tern_status tern_cuda_conv_grad_weight(const tern_exec *exec, const tern_conv_args *args)
{
    TERN_TRY(check("conv_grad_weight", args));
    if (tern_strided_numel(&args->weight) == 0)
        return TERN_OK;
    if (is_product(args) && (args->x.size[0] == 1 || spatial_size(&args->x) == 1))
        return weight_product(exec, args);
    return args->y.size[1] / args->groups > FEW_ROWS && on_tensor_cores(exec, args->y.dtype)
               ? tern_cuda_conv_weight_tensor(exec, args)
               : tern_cuda_conv_weight(exec, args);
}
