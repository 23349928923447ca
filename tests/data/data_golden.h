// SPDX-License-Identifier: Apache-2.0
// Written by tests/data/make_data.py with PyTorch 1.13.0a0: do not edit.
// clang-format off
#ifndef TERN_TESTS_DATA_GOLDEN_H
#define TERN_TESTS_DATA_GOLDEN_H

#include <stdbool.h>
#include <stdint.h>

// Fashion-MNIST: the train part, then the test part. CRC-32 as zlib's; of the pixels as float32 =
// byte / 255 and of the labels as int64, little-endian.
typedef struct golden_fashion {
    int64_t count;
    uint32_t bytes, pixels, labels, labels64;
    int64_t first_labels[8];
} golden_fashion;

static const golden_fashion golden_fashions[2] = {
    {60000, 0xae65dccd, 0xffe48742, 0x2ed6e46a, 0xab93c456, {9, 0, 0, 3, 0, 2, 7, 2}},
    {10000, 0x12728439, 0x75e9a691, 0x242bc73f, 0x573905e5, {9, 2, 1, 1, 6, 1, 4, 6}}};

// Three epochs after manual_seed(7), with `own` from a Generator().manual_seed(5). In the first
// epoch the loop breaks after `broken` batches, when that is not 0. `after` is rand(1) from the
// generator of the order when all is done, as bits of float32.
typedef struct golden_order {
    int64_t samples, batch_size;
    bool shuffle, drop_last, own;
    int broken;
    int64_t count[3];
    int64_t order[3][24];
    uint32_t after;
} golden_order;

static const golden_order golden_orders[] = {
    {10, 4, true, false, false, 0, {10, 10, 10},
     {{3, 2, 7, 8, 6, 1, 5, 9, 0, 4},
      {1, 3, 5, 2, 8, 9, 6, 7, 4, 0},
      {9, 2, 7, 1, 6, 0, 3, 5, 4, 8}},
     0x3e92dc90},
    {10, 4, false, false, false, 0, {10, 10, 10},
     {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
     0x3e540e5c},
    {10, 4, true, true, false, 0, {8, 8, 8},
     {{3, 2, 7, 8, 6, 1, 5, 9},
      {1, 3, 5, 2, 8, 9, 6, 7},
      {9, 2, 7, 1, 6, 0, 3, 5}},
     0x3e92dc90},
    {10, 4, true, false, true, 0, {10, 10, 10},
     {{7, 4, 8, 1, 2, 3, 6, 5, 9, 0},
      {2, 1, 6, 3, 5, 9, 4, 7, 8, 0},
      {4, 3, 2, 7, 9, 1, 6, 8, 5, 0}},
     0x3e63d1a4},
    {10, 5, true, false, true, 0, {10, 10, 10},
     {{7, 4, 8, 1, 2, 3, 6, 5, 9, 0},
      {2, 1, 6, 3, 5, 9, 4, 7, 8, 0},
      {4, 3, 2, 7, 9, 1, 6, 8, 5, 0}},
     0x3e63d1a4},
    {10, 4, true, true, true, 0, {8, 8, 8},
     {{7, 4, 8, 1, 2, 3, 6, 5},
      {2, 1, 6, 3, 5, 9, 4, 7},
      {4, 3, 2, 7, 9, 1, 6, 8}},
     0x3e63d1a4},
    {10, 4, false, false, true, 0, {10, 10, 10},
     {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
     0x3e285640},
    {10, 4, true, false, false, 1, {4, 10, 10},
     {{3, 2, 7, 8},
      {1, 3, 5, 2, 8, 9, 6, 7, 4, 0},
      {9, 2, 7, 1, 6, 0, 3, 5, 4, 8}},
     0x3e92dc90},
    {10, 4, true, false, true, 1, {4, 10, 10},
     {{7, 4, 8, 1},
      {2, 1, 0, 7, 4, 3, 5, 6, 9, 8},
      {4, 8, 3, 1, 6, 5, 7, 2, 9, 0}},
     0x3eea18dc},
    {10, 4, true, false, true, 3, {10, 10, 10},
     {{7, 4, 8, 1, 2, 3, 6, 5, 9, 0},
      {2, 1, 6, 3, 5, 9, 4, 7, 8, 0},
      {4, 3, 2, 7, 9, 1, 6, 8, 5, 0}},
     0x3e63d1a4},
    {24, 1, true, false, true, 0, {24, 24, 24},
     {{
        7, 21, 10, 4, 16, 11, 12, 6, 15, 9, 1, 13, 18, 20, 17, 2, 23, 22, 8, 0, 5, 19, 14, 3},
      {
        12, 19, 20, 14, 23, 22, 13, 10, 0, 6, 1, 7, 11, 18, 8, 2, 4, 16, 9, 21, 5, 15, 17, 3},
      {
        5, 17, 2, 6, 10, 3, 14, 0, 8, 12, 22, 21, 7, 15, 20, 18, 16, 4, 23, 9, 13, 11, 1, 19}},
     0x3f0ff36f},
    {7, 100, true, false, true, 0, {7, 7, 7},
     {{2, 4, 3, 5, 0, 6, 1},
      {4, 1, 0, 2, 3, 6, 5},
      {3, 0, 2, 5, 1, 6, 4}},
     0x3d4b8d20},
    {1, 1, true, false, true, 0, {1, 1, 1},
     {{0},
      {0},
      {0}},
     0x3e285640}};

#endif
