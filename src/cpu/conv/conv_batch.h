// SPDX-License-Identifier: Apache-2.0
// Convolutions of batches whose result is an image: forward, and gradients of the input. The rows
// of a tile are images at one position, so that taps which reach padding are left out; its lanes
// are output channels. Sums are added in an order that the shape alone decides.
#ifndef TERN_SRC_CPU_CONV_CONV_BATCH_H
#define TERN_SRC_CPU_CONV_CONV_BATCH_H

#include "base/thread_pool.h"
#include "cpu/conv/conv_range.h"
#include "cpu/conv/outer_product.h"
#include "cpu/work.h"

typedef struct batch_image {
    int64_t channels, height, width;
} batch_image;

typedef struct batch_conv {
    int64_t batch;
    batch_image source, result;
    const real *from; /* (batch, source) */
    real *to;         /* (batch, result) */
    const real *weight;
    int64_t result_step, source_step; // in weight, from channel to channel; the taps lie behind
    int64_t kernel[2];
    bool backward; // the gradient of the input: the last tap comes first
    const real *bias;
    bool relu, accumulate;

    int64_t taps, blocks, block; // of the source's channels, added up one after the other
    int64_t chunk;               // tiles of images that are packed at a time
    int64_t row_block;           // positions that an item computes
    int64_t pitch;               // of the images of a tile
    int32_t *source_index[2];    /* (size of the result, kernel): positions in the source, or -1 */
    real *weights;               /* (panels, blocks, taps, block, OUTER_LANES) */
    real *images;                /* (chunk, blocks, positions, block, pitch) */
    work_scratch scratches;
    int64_t tile, tiles; // of images, first and count, that are packed now
} batch_conv;

#define BATCH_MAX_TAPS     64
#define BATCH_BLOCK_STEPS  1024               // of a tile, whose operands stay in the second cache
#define BATCH_ROW_BLOCK    128                // positions
#define BATCH_PACK         128                // likewise
#define BATCH_CHUNK        (1 << 19)          // packed elements
#define BATCH_MAX_ELEMENTS ((int64_t)1 << 18) // of an image

static int64_t batch_space(const batch_image *i)
{
    return i->height * i->width;
}

static int64_t batch_panels(const batch_conv *c)
{
    return outer_panels(c->result.channels);
}

// Of one block of channels.
static int64_t batch_block_channels(const batch_conv *c, int64_t block)
{
    return min_int64(c->source.channels - block * c->block, c->block);
}

static int64_t batch_weights_of_block(const batch_conv *c)
{
    return c->taps * c->block * OUTER_LANES;
}

static int64_t batch_images_of_block(const batch_conv *c)
{
    return batch_space(&c->source) * c->block * c->pitch;
}

static void batch_plan(batch_conv *c)
{
    c->taps = c->kernel[0] * c->kernel[1];
    c->pitch = outer_pitch(c->batch);
    const int64_t limit = BATCH_BLOCK_STEPS / c->taps > 8 ? BATCH_BLOCK_STEPS / c->taps : 8;
    c->blocks = (c->source.channels + limit - 1) / limit;
    c->block = (c->source.channels + c->blocks - 1) / c->blocks;
    c->blocks = (c->source.channels + c->block - 1) / c->block;
    const int64_t tile = c->blocks * batch_images_of_block(c), tiles = outer_tiles(c->batch);
    c->chunk = min_int64(tiles, BATCH_CHUNK / tile > 1 ? BATCH_CHUNK / tile : 1);
    c->row_block = min_int64(BATCH_ROW_BLOCK, batch_space(&c->result));
}

static int64_t batch_row_blocks(const batch_conv *c)
{
    return (batch_space(&c->result) + c->row_block - 1) / c->row_block;
}

static int64_t batch_items(const batch_conv *c)
{
    return c->tiles * batch_panels(c) * batch_row_blocks(c);
}

// ---- packing ------------------------------------------------------------------------------------

static void batch_pack_weights(void *context, int64_t index)
{
    const batch_conv *c = context;
    const int64_t panel = index / c->blocks, block = index % c->blocks;
    const int64_t channels = batch_block_channels(c, block);
    const int64_t lane = panel * OUTER_LANES;
    const int64_t rows = min_int64(c->result.channels - lane, OUTER_LANES);
    real *to = c->weights + index * batch_weights_of_block(c);
    const real *from = c->weight + lane * c->result_step + block * c->block * c->source_step;
    if (c->source_step == 1) { // one tap
        outer_pack(to, OUTER_LANES, OUTER_LANES, from, c->result_step, rows, channels);
        return;
    }
    const int64_t tap = c->block * OUTER_LANES, last = c->backward ? (c->taps - 1) * tap : 0;
    for (int64_t i = 0; i < channels; i++)
        outer_pack(to + last + i * OUTER_LANES, c->backward ? -tap : tap, OUTER_LANES,
                   from + i * c->source_step, c->result_step, rows, c->taps);
}

static int64_t batch_parts(const batch_conv *c)
{
    return (batch_space(&c->source) + BATCH_PACK - 1) / BATCH_PACK;
}

// A few positions of all channels of a block.
static void batch_pack_images(void *context, int64_t index)
{
    const batch_conv *c = context;
    const int64_t space = batch_space(&c->source), image = c->source.channels * space;
    const int64_t parts = batch_parts(c), part = index % parts;
    const int64_t block = index / parts % c->blocks, tile = index / parts / c->blocks;
    const int64_t first = outer_row(c->batch, c->tile + tile);
    const int64_t rows = outer_row(c->batch, c->tile + tile + 1) - first;
    const int64_t position = part * BATCH_PACK, step = c->block * c->pitch;
    const real *from = c->from + first * image + block * c->block * space + position;
    real *to = c->images + (tile * c->blocks + block) * batch_images_of_block(c) + position * step;
    for (int64_t i = 0; i < batch_block_channels(c, block); i++)
        outer_pack(to + i * c->pitch, step, c->pitch, from + i * space, image, rows,
                   min_int64(space - position, BATCH_PACK));
}

// ---- sums ---------------------------------------------------------------------------------------

// The steps of one place of the result and of so many channels.
static int64_t batch_runs(const batch_conv *c, int64_t position, int64_t channels, outer_run *run)
{
    const int64_t high = c->kernel[0], wide = c->kernel[1];
    const int32_t *row = c->source_index[0] + position / c->result.width * high;
    const int32_t *col = c->source_index[1] + position % c->result.width * wide;
    int64_t runs = 0;
    for (int64_t i = 0; i < high; i++) {
        if (row[i] < 0)
            continue;
        for (int64_t j = 0; j < wide; j++) {
            if (col[j] < 0)
                continue;
            const int64_t a = (row[i] * c->source.width + col[j]) * c->block * c->pitch;
            const int64_t b = (i * wide + j) * c->block * OUTER_LANES;
            outer_run *last = run + runs - 1;
            if (runs > 0 && a == last->a + last->steps * c->pitch &&
                b == last->b + last->steps * OUTER_LANES)
                last->steps += channels;
            else
                run[runs++] = (outer_run){a, b, channels};
        }
    }
    return runs;
}

typedef struct batch_item {
    int64_t panel, lanes;      // its channels, as lanes
    int64_t position, count;   // of the result
    int64_t tile, image, rows; // of images
} batch_item;

static batch_item batch_item_at(const batch_conv *c, int64_t index)
{
    const int64_t row_blocks = batch_row_blocks(c), panels = batch_panels(c);
    batch_item item = {.position = index % row_blocks * c->row_block,
                       .panel = index / row_blocks % panels};
    item.tile = index / row_blocks / panels;
    item.count = min_int64(batch_space(&c->result) - item.position, c->row_block);
    item.lanes = min_int64(c->result.channels - item.panel * OUTER_LANES, OUTER_LANES);
    item.image = outer_row(c->batch, c->tile + item.tile);
    item.rows = outer_row(c->batch, c->tile + item.tile + 1) - item.image;
    return item;
}

// sum (count, rows, OUTER_LANES)
static void batch_add_up(const batch_conv *c, const batch_item *item, real *sum)
{
    outer_kernel *kernel = outer_kernel_for(item->rows, item->lanes);
    outer_run run[BATCH_MAX_TAPS];
    outer_tile tile = {.run = run, .pitch = c->pitch, .sum_row = OUTER_LANES};
    for (int64_t block = 0; block < c->blocks; block++) {
        const int64_t channels = batch_block_channels(c, block);
        tile.a = c->images + (item->tile * c->blocks + block) * batch_images_of_block(c);
        tile.b = c->weights + (item->panel * c->blocks + block) * batch_weights_of_block(c);
        tile.sum = sum;
        tile.add = block > 0;
        for (int64_t p = 0; p < item->count; p++, tile.sum += item->rows * OUTER_LANES) {
            tile.runs = batch_runs(c, item->position + p, channels, run);
            kernel(&tile);
        }
    }
}

static void batch_run_item(void *context, int64_t index, void *scratch)
{
    const batch_conv *c = context;
    const batch_item item = batch_item_at(c, index);
    const int64_t channel = item.panel * OUTER_LANES, space = batch_space(&c->result);
    batch_add_up(c, &item, scratch);
    for (int64_t n = 0; n < item.rows; n++) {
        real *to = c->to + ((item.image + n) * c->result.channels + channel) * space;
        outer_unpack(&(outer_result){.to = to + item.position,
                                     .to_row = space,
                                     .bias = c->bias ? c->bias + channel : NULL,
                                     .add = c->accumulate,
                                     .relu = c->relu},
                     (const real *)scratch + n * OUTER_LANES, item.rows * OUTER_LANES, item.lanes,
                     item.count);
    }
}

// ---- all of it ----------------------------------------------------------------------------------

static size_t batch_index_bytes(const batch_conv *c)
{
    const int64_t positions = c->result.height * c->kernel[0] + c->result.width * c->kernel[1];
    return (size_t)((positions + 15) / 16 * 16) * sizeof(int32_t);
}

static tern_status batch_run(batch_conv *c, const conv_range *source_index)
{
    batch_plan(c);
    c->tiles = c->chunk;
    const int64_t weights = batch_panels(c) * c->blocks * batch_weights_of_block(c);
    const int64_t images = c->chunk * c->blocks * batch_images_of_block(c);
    const int64_t scratch = c->row_block * TILE_ROWS * OUTER_LANES;
    const int64_t scratches = work_scratch_count(batch_items(c), tern_num_threads());
    const size_t nbytes =
        batch_index_bytes(c) + (size_t)(weights + images + scratches * scratch) * sizeof(real);
    char *memory = tern_cache_alloc(nbytes);
    if (!memory)
        return TERN_ERR_NOMEM;
    c->source_index[0] = (int32_t *)(void *)memory;
    c->source_index[1] = c->source_index[0] + c->result.height * c->kernel[0];
    c->weights = (real *)(void *)(memory + batch_index_bytes(c));
    c->images = c->weights + weights;
    c->scratches = (work_scratch){.memory = c->images + images,
                                  .nbytes = scratch * (int64_t)sizeof(real),
                                  .count = scratches};
    for (int d = 0; d < 2; d++)
        (c->backward ? conv_range_outputs : conv_range_inputs)(&source_index[d],
                                                               c->source_index[d]);
    tern_pool_run(batch_panels(c) * c->blocks, batch_pack_weights, c);
    for (c->tile = 0; c->tile < outer_tiles(c->batch); c->tile += c->chunk) {
        c->tiles = min_int64(c->chunk, outer_tiles(c->batch) - c->tile);
        tern_pool_run(c->tiles * c->blocks * batch_parts(c), batch_pack_images, c);
        work_run(&c->scratches, batch_items(c), batch_run_item, c);
    }
    tern_cache_free(memory, nbytes);
    return TERN_OK;
}

// Many images of few enough elements, and channels that fill lanes.
static bool batch_suits(const tern_conv_args *args, const tern_strided *result,
                        const tern_strided *source)
{
    const int64_t taps = args->weight.size[3] * args->weight.size[4];
    const int64_t space = source->size[3] * source->size[4];
    return args->groups == 1 && args->x.size[2] == 1 && args->y.size[2] == 1 &&
           args->weight.size[2] == 1 && args->padding[0] == 0 && taps <= BATCH_MAX_TAPS &&
           args->x.size[0] >= OUTER_MIN_COUNT && result->size[1] >= VEC_WIDTH &&
           source->size[1] >= VEC_WIDTH && space > 0 &&
           source->size[1] * space <= BATCH_MAX_ELEMENTS;
}

// The result of conv, or of conv_grad_input when `backward`.
static tern_status batch_correlate(const tern_conv_args *args, bool backward)
{
    const tern_strided *result = backward ? &args->x : &args->y;
    const tern_strided *source = backward ? &args->y : &args->x;
    const int64_t *kernel = args->weight.size + 3, taps = kernel[0] * kernel[1];
    const int64_t filter = args->weight.size[1] * taps;
    conv_range source_index[2];
    for (int d = 0; d < 2; d++)
        source_index[d] = conv_range_along(args, d);
    batch_conv c = {.batch = args->x.size[0],
                    .source = {source->size[1], source->size[3], source->size[4]},
                    .result = {result->size[1], result->size[3], result->size[4]},
                    .from = source->data,
                    .to = result->data,
                    .weight = args->weight.data,
                    .result_step = backward ? taps : filter,
                    .source_step = backward ? filter : taps,
                    .kernel = {kernel[0], kernel[1]},
                    .backward = backward,
                    .bias = args->bias ? args->bias->data : NULL,
                    .relu = args->relu,
                    .accumulate = args->accumulate};
    return batch_run(&c, source_index);
}

#endif
