// SPDX-License-Identifier: Apache-2.0
// Saving states and loading them.
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "operations.h"

static tern_status see_state(const tern_state *state)
{
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        const char *name = tern_state_name_at(state, i);
        world_see_bytes(name, strlen(name));
        if (tern_state_type_at(state, i) == TERN_STATE_TENSOR)
            TERN_TRY(world_see(tern_state_tensor(state, name)));
    }
    return state ? TERN_OK : tern_error_code();
}

static tern_status save_net(void)
{
    w.state = tern_module_state_dict(w.net);
    return see_state(w.state);
}

static tern_status prepare_copy(void)
{
    TERN_TRY(world_make_net_and_batch());
    w.state = tern_module_state_dict(w.net);
    return w.state ? tern_state_set_text(w.state, "kind", "net") : tern_error_code();
}

static tern_status copy_state(void)
{
    tern_state *copy = tern_state_copy(w.state, .device = tern_cpu(1));
    tern_status status = see_state(copy);
    tern_state_free(copy);
    return status;
}

// On the other device, of another dtype for every other name.
static tern_status set_ones(tern_state *state, const tern_state *like)
{
    for (int64_t i = 0; i < tern_state_count(like); i++) {
        const char *name = tern_state_name_at(like, i);
        tern_tensor *ones =
            tern_ones(tern_shape_of(tern_state_tensor(like, name)),
                      .dtype = i % 2 ? TERN_FLOAT64 : TERN_FLOAT32, .device = tern_cpu(1));
        TERN_TRY(tern_state_set_tensor(state, name, ones));
    }
    return tern_state_set_int(state, "epoch", 3);
}

static tern_status prepare_load(void)
{
    TERN_TRY(world_make_net_and_batch());
    tern_scope scope = tern_scope_open();
    tern_state *own = tern_module_state_dict(w.net);
    w.state = tern_state_new();
    tern_status status = set_ones(w.state, own);
    tern_state_free(own);
    tern_scope_close(scope);
    return status;
}

static tern_status load_net(void)
{
    tern_load_report report;
    tern_status status =
        tern_module_load_state_dict(w.net, w.state, .strict = false, .report = &report);
    if (!status)
        world_see_bytes(report.unexpected[0], strlen(report.unexpected[0]));
    tern_load_report_free(&report);
    return status;
}

// The state of a net whose parts are each in a wrapper.
static tern_status prepare_wrapped(void)
{
    TERN_TRY(world_make_net_and_batch());
    tern_scope scope = tern_scope_open();
    tern_state *own = tern_module_state_dict(w.net);
    w.state = tern_state_new();
    tern_status status = TERN_OK;
    for (int64_t i = 0; !status && i < tern_state_count(own); i++) {
        char name[128];
        const char *bare = tern_state_name_at(own, i), *dot = strchr(bare, '.');
        snprintf(name, sizeof name, "%.*s.module%s", (int)(dot - bare), bare, dot);
        tern_tensor *ones = tern_ones_like(tern_state_tensor(own, bare));
        status = tern_state_set_tensor(w.state, name, ones);
    }
    tern_state_free(own);
    tern_scope_close(scope);
    return status;
}

// The first time it is refused, with advice.
static tern_status load_wrapped(void)
{
    tern_status status = tern_module_load_state_dict(w.net, w.state);
    if (status != TERN_ERR_ARG)
        return status;
    tern_error_clear();
    return tern_module_load_state_dict(w.net, w.state, .strip_component = "module");
}

// A slot that is not there is made, a generator goes back.
static tern_status visit_world(void *object, tern_state_visitor *v)
{
    world *self = object;
    TERN_TRY(tern_visit_optional_tensor(v, "a", &self->a, self->wide));
    TERN_TRY(tern_visit_generator(v, "generator", self->generator));
    return tern_visit_module(v, "net", self->net);
}

static tern_status prepare_visit(void)
{
    TERN_TRY(world_make_net_and_batch());
    TERN_TRY(world_make_leaves());
    w.generator = tern_generator_new(11);
    if (!w.generator)
        return tern_error_code();
    tern_assign(&w.a, w.wide);
    w.state = tern_state_of(visit_world, &w);
    tern_assign(&w.a, NULL);
    return w.state ? TERN_OK : tern_error_code();
}

static tern_status load_world(void)
{
    TERN_TRY(tern_state_load(w.state, visit_world, &w));
    return world_see(w.a);
}

static tern_status prepare_optim_state(void)
{
    TERN_TRY(world_make_net_and_batch());
    TERN_TRY(world_forward());
    w.optim = tern_optim_adam(w.net);
    TERN_TRY(tern_backward(w.loss));
    TERN_TRY(tern_optim_step(w.optim));
    w.state = tern_optim_state_dict(w.optim);
    return w.state ? TERN_OK : tern_error_code();
}

// Into one that has no state yet.
static tern_status load_optim(void)
{
    tern_optim *other = tern_optim_adam(w.net);
    tern_status status = other ? tern_optim_load_state_dict(other, w.state) : tern_error_code();
    if (!status)
        status = world_see(tern_optim_state(other, 0, "exp_avg"));
    tern_optim_free(other);
    return status;
}

static tern_status save_random(void)
{
    w.state = tern_random_state_dict();
    return see_state(w.state);
}

static tern_status prepare_random(void)
{
    w.state = tern_random_state_dict();
    return w.state ? TERN_OK : tern_error_code();
}

static tern_status load_random(void)
{
    return tern_random_load_state_dict(w.state);
}

const operation states[] = {
    {"save_net", 8, .prepare = world_make_net_and_batch, .run = save_net},
    {"copy_state", 18, .prepare = prepare_copy, .run = copy_state},
    {"load_optim", 18, .prepare = prepare_optim_state, .run = load_optim},
    {"load_net", 18, .prepare = prepare_load, .run = load_net},
    {"load_wrapped", 1, .prepare = prepare_wrapped, .run = load_wrapped},
    {"load_world", 5, .prepare = prepare_visit, .run = load_world},
    {"save_random", 3, .run = save_random},
    {"load_random", 1, .prepare = prepare_random, .run = load_random},
    {0},
};
