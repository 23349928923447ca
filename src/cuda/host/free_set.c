// SPDX-License-Identifier: Apache-2.0
// Free blocks in order: a treap. R. Seidel, C. Aragon, "Randomized search trees", 1996.
#include "cuda/host/free_set.h"

#include <stddef.h>

static uint64_t priority(const tern_cuda_block *block)
{
    uint64_t mixed = (uint64_t)(uintptr_t)block->data * 0x9E3779B97F4A7C15u;
    return mixed ^ mixed >> 32;
}

static bool comes_before(const tern_cuda_block *a, const tern_cuda_block *b)
{
    return a->nbytes != b->nbytes ? a->nbytes < b->nbytes : a->data < b->data;
}

// Cuts a tree into what comes before the block and what comes after it.
static void cut(tern_cuda_block *tree, const tern_cuda_block *block, tern_cuda_block **before,
                tern_cuda_block **after)
{
    while (tree) {
        if (comes_before(tree, block)) {
            *before = tree;
            before = &tree->right;
            tree = tree->right;
        } else {
            *after = tree;
            after = &tree->left;
            tree = tree->left;
        }
    }
    *before = *after = NULL;
}

void tern_cuda_free_set_add(tern_cuda_free_set *set, tern_cuda_block *block)
{
    tern_cuda_block **link = &set->root;
    while (*link && priority(*link) >= priority(block))
        link = comes_before(*link, block) ? &(*link)->right : &(*link)->left;
    cut(*link, block, &block->left, &block->right);
    *link = block;
}

// Everything in `before` comes before everything in `after`.
static void join(tern_cuda_block **link, tern_cuda_block *before, tern_cuda_block *after)
{
    while (before && after) {
        if (priority(before) >= priority(after)) {
            *link = before;
            link = &before->right;
            before = before->right;
        } else {
            *link = after;
            link = &after->left;
            after = after->left;
        }
    }
    *link = before ? before : after;
}

void tern_cuda_free_set_remove(tern_cuda_free_set *set, tern_cuda_block *block)
{
    tern_cuda_block **link = &set->root;
    while (*link != block)
        link = comes_before(*link, block) ? &(*link)->right : &(*link)->left;
    join(link, block->left, block->right);
    block->left = block->right = NULL;
}

tern_cuda_block *tern_cuda_free_set_fit(const tern_cuda_free_set *set, int64_t nbytes)
{
    tern_cuda_block *found = NULL;
    for (tern_cuda_block *block = set->root; block;) {
        bool fits = block->nbytes >= nbytes;
        if (fits)
            found = block;
        block = fits ? block->left : block->right;
    }
    return found;
}
