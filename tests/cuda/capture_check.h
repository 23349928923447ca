// SPDX-License-Identifier: Apache-2.0
// For tests of captures: begin, end and replay, all well.
#ifndef TERN_TESTS_CUDA_CAPTURE_CHECK_H
#define TERN_TESTS_CUDA_CAPTURE_CHECK_H

#include "plugin_check.h"

static inline int calm(void **state)
{
    (void)state;
    tern_error_clear();
    plugin.fail_none();
    assert_false(plugin.cuda->capturing(0));
    assert_int_equal(plugin.cuda->empty_cache(0), TERN_OK);
    return 0;
}

static inline void begin(void)
{
    assert_int_equal(plugin.cuda->capture_begin(0), TERN_OK);
    assert_true(plugin.cuda->capturing(0));
    assert_false(plugin.cuda->capturing(1));
}

static inline void *end(void)
{
    void *graph = plugin.cuda->capture_end(0, false);
    assert_no_error();
    assert_non_null(graph);
    assert_false(plugin.cuda->capturing(0));
    return graph;
}

static inline void replay(void *graph)
{
    assert_int_equal(plugin.cuda->graph_launch(graph), TERN_OK);
}

#endif
