// SPDX-License-Identifier: Apache-2.0
// Resizing of the last dimensions.
#include "ops/interpolate.h"

#include <math.h>
#include "ops/resample.h"
#include "tensor/factory.h"

const char *tern_interpolate_mode_name(tern_interpolate_mode mode)
{
    switch (mode) {
    case TERN_INTERPOLATE_UNSPECIFIED:
    case TERN_NEAREST:
        return "nearest";
    case TERN_NEAREST_EXACT:
        return "nearest-exact";
    case TERN_LINEAR:
        return "linear";
    case TERN_BILINEAR:
        return "bilinear";
    case TERN_TRILINEAR:
        return "trilinear";
    case TERN_BICUBIC:
        return "bicubic";
    case TERN_AREA:
        return "area";
    }
    return NULL;
}

static tern_resample_kind kind_of(tern_interpolate_mode mode)
{
    switch (mode) {
    case TERN_INTERPOLATE_UNSPECIFIED:
    case TERN_NEAREST:
        return TERN_RESAMPLE_NEAREST;
    case TERN_NEAREST_EXACT:
        return TERN_RESAMPLE_NEAREST_EXACT;
    case TERN_LINEAR:
    case TERN_BILINEAR:
    case TERN_TRILINEAR:
        return TERN_RESAMPLE_LINEAR;
    case TERN_BICUBIC:
        return TERN_RESAMPLE_CUBIC;
    case TERN_AREA:
        return TERN_RESAMPLE_AREA;
    }
    return TERN_RESAMPLE_SAME;
}

// The dimensions that a mode resizes; 0: 1 to 3.
static int dims_of(tern_interpolate_mode mode)
{
    if (mode == TERN_LINEAR)
        return 1;
    if (mode == TERN_TRILINEAR)
        return 3;
    return mode == TERN_BILINEAR || mode == TERN_BICUBIC ? 2 : 0;
}

static bool knows_corners(tern_interpolate_mode mode)
{
    return dims_of(mode) > 0;
}

// ---- checks ------------------------------------------------------------------------------------

int tern_scales_count(const tern_scales *scales)
{
    int count = 3;
    while (count > 0 && scales->at[count - 1] == 0)
        count--;
    return count;
}

tern_status tern_interpolate_check(const char *name, const tern_interpolate_options *o)
{
    int scales = tern_scales_count(&o->scale);
    const char *mode = tern_interpolate_mode_name(o->mode);
    TERN_CHECK(mode, TERN_ERR_ARG, "%s: there is no mode %d", name, (int)o->mode);
    TERN_CHECK((o->size.rank == 0) != (scales == 0), TERN_ERR_ARG, "%s: %s: give one of them", name,
               scales ? "size and scale are both given" : "neither size nor scale is given");
    TERN_CHECK(o->size.rank >= 0 && o->size.rank <= 3, TERN_ERR_ARG,
               "%s: size is %s, but at most 3 dimensions are resized", name,
               tern_shape_string(o->size));
    for (int i = 0; i < scales; i++)
        TERN_CHECK(o->scale.at[i] > 0 && isfinite(o->scale.at[i]), TERN_ERR_ARG,
                   "%s: a scale is %g, but must be above 0 and finite", name, o->scale.at[i]);
    for (int i = 0; i < o->size.rank; i++)
        TERN_CHECK(o->size.dim[i] > 0 && o->size.dim[i] <= INT32_MAX, TERN_ERR_ARG,
                   "%s: size is %s, but must be at least 1 and below 2^31", name,
                   tern_shape_string(o->size));
    TERN_CHECK(!o->align_corners || knows_corners(o->mode), TERN_ERR_ARG,
               "%s: mode %s knows no corners: leave align_corners out", name, mode);
    TERN_CHECK(!o->recompute_scale || scales, TERN_ERR_ARG,
               "%s: recompute_scale is for a scale, but a size is given", name);
    return TERN_OK;
}

static tern_status check_input(const tern_interpolate_options *o, const tern_tensor *x)
{
    int wanted = dims_of(o->mode), dims = x->rank - 2, scales = tern_scales_count(&o->scale);
    const char *mode = tern_interpolate_mode_name(o->mode);
    static const char *const shapes[] = {"(N, C, W), (N, C, H, W) or (N, C, D, H, W)", "(N, C, W)",
                                         "(N, C, H, W)", "(N, C, D, H, W)"};
    TERN_CHECK(wanted ? dims == wanted : dims >= 1 && dims <= 3, TERN_ERR_SHAPE,
               "interpolate: mode %s takes x %s, not %s", mode, shapes[wanted],
               tern_shape_string(tern_shape_get(x)));
    int given = scales ? scales : o->size.rank;
    TERN_CHECK(given == 1 || given == dims, TERN_ERR_SHAPE,
               "interpolate: %d %s are given for the %d dimensions of x %s", given,
               scales ? "scales" : "sizes", dims, tern_shape_string(tern_shape_get(x)));
    for (int i = 1; i < x->rank; i++)
        TERN_CHECK(x->size[i] > 0 && x->size[i] <= INT32_MAX, TERN_ERR_SHAPE,
                   "interpolate: dimension %d of x %s is %s", i,
                   tern_shape_string(tern_shape_get(x)), x->size[i] ? "above 2^31" : "empty");
    return TERN_OK;
}

// ---- sizes -------------------------------------------------------------------------------------

static tern_status resize(const tern_interpolate_options *o, const tern_tensor *x, int dim,
                          tern_resample_dim *out)
{
    int given = o->size.rank, at = dim - 2;
    double scale = o->scale.at[tern_scales_count(&o->scale) == 1 ? 0 : at];
    int64_t in = x->size[dim];
    double size = given ? (double)o->size.dim[given == 1 ? 0 : at] : floor((double)in * scale);
    TERN_CHECK(size >= 1 && size <= INT32_MAX, TERN_ERR_SHAPE,
               "interpolate: a scale of %g makes %g elements of the %lld along dimension %d of x "
               "%s",
               scale, size, (long long)in, dim, tern_shape_string(tern_shape_get(x)));
    *out = (tern_resample_dim){.kind = kind_of(o->mode), .in = in, .out = (int64_t)size};
    out->align_corners = o->align_corners;
    out->ratio = given || o->recompute_scale ? (double)in / size : 1 / scale;
    if (o->align_corners)
        out->ratio = out->out > 1 ? (double)(in - 1) / (double)(out->out - 1) : 0;
    // PyTorch's nearest in two dimensions copies and doubles by the sizes, whatever the scale.
    if (out->kind == TERN_RESAMPLE_NEAREST && x->rank == 4 &&
        (out->out == in || out->out == 2 * in))
        out->ratio = (double)in / size;
    if (out->out == in && (out->kind == TERN_RESAMPLE_LINEAR || out->ratio == 1))
        out->kind = TERN_RESAMPLE_SAME;
    return TERN_OK;
}

// ---- the operation -----------------------------------------------------------------------------

// Numbers of the call: kind, align_corners for each dimension; the ratios.
static void save(const tern_resample_args *args, int dims, tern_op_attrs *attrs)
{
    for (int i = 0; i < 3; i++) {
        attrs->i[i] = args->dim[i].kind;
        attrs->i[3 + i] = args->dim[i].align_corners;
        attrs->d[i] = args->dim[i].ratio;
    }
    attrs->i[6] = dims;
}

static tern_status backward(tern_node *node, tern_tensor *const *dy, tern_tensor **dx)
{
    const tern_op_attrs *attrs = tern_node_attrs(node);
    tern_shape shape = tern_node_input_shape(node, 0);
    int dims = (int)attrs->i[6];
    tern_shape in = tern_planes_of(shape, dims);
    tern_shape out = tern_planes_of(tern_shape_get(dy[0]), dims);
    tern_resample_args args = {.scale = 1};
    for (int i = 0; i < 3; i++)
        args.dim[i] = (tern_resample_dim){.kind = (tern_resample_kind)attrs->i[i],
                                          .in = in.dim[1 + i],
                                          .out = out.dim[1 + i],
                                          .ratio = attrs->d[i],
                                          .align_corners = attrs->i[3 + i]};
    dx[0] = tern_tensor_new("interpolate", dy[0]->dtype, tern_dev(dy[0]), shape);
    return dx[0] ? tern_launch_resample_grad(&args, dims, dx[0], dy[0]) : tern_failed();
}

tern_tensor *tern_interpolate_with(const tern_interpolate_options *options)
{
    static const tern_op interpolate = {"interpolate", {"x"}, backward};
    if (!options)
        return (void)tern_null_error("interpolate", "options"), NULL;
    tern_op_call call = {.op = &interpolate, .count = 1, .in = {options->x}};
    if (tern_op_begin(&call, TERN_OP_ONLY_FLOATING) ||
        tern_interpolate_check("interpolate", options) || check_input(options, call.in[0]))
        return NULL;
    int dims = call.shape.rank - 2;
    tern_resample_args args = {.scale = 1};
    for (int i = 0; i < 3; i++)
        args.dim[i] = tern_resample_same(1);
    for (int dim = 2; dim < call.shape.rank; dim++) {
        tern_resample_dim *to = &args.dim[1 + dim - dims];
        if (resize(options, call.in[0], dim, to))
            return NULL;
        call.shape.dim[dim] = to->out;
    }
    tern_tensor *y = tern_create("interpolate", call.dtype, call.device, false, call.shape);
    if (!y || tern_launch_resample(&args, dims, y, call.in[0]))
        return NULL;
    save(&args, dims, &call.attrs);
    return tern_op_end(&call, y, NULL, 0);
}
