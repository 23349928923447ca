// SPDX-License-Identifier: Apache-2.0
// Random runs, each done twice: at once, and with pieces of its steps replayed from graphs that are
// captured and recaptured in between, on several streams, while memory comes and goes. After every
// action all bits agree; a replay that would do something else must have been refused.
//
// TERN_TEST_SEED chooses the runs, TERN_TEST_LONG does 3000 of them.
#include <stdio.h>
#include <stdlib.h>
#include "device/device_check.h"

enum { PLAYERS = 2, SIZES = 3, STREAMS = 3, JUNK = 12, ACTIONS = 40, PARAMS = 4 };

// ---- random numbers of the test -----------------------------------------------------------------

// Steele et al. 2014 (SplitMix64).
static uint64_t next_of(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int below(uint64_t *seed, int limit)
{
    return (int)(next_of(seed) % (uint64_t)limit);
}

// ---- players ------------------------------------------------------------------------------------

// A net, what trains it, and batches of several sizes in fixed tensors.
typedef struct player {
    tern_module *net;
    tern_optim *optim;
    bool has_momentum;
    tern_tensor *params[PARAMS];
    tern_tensor *x[SIZES], *y[SIZES], *loss;
} player;

static const int64_t rows_of[SIZES] = {1, 4, 9};

static tern_module *random_net(uint64_t *seed)
{
    static const double dropped[] = {0.0, 0.3, 0.5};
    tern_module *first = tern_nn_linear(5, 7);
    tern_module *middle = below(seed, 2) ? tern_nn_relu() : tern_nn_gelu();
    tern_module *dropout = tern_nn_dropout(dropped[below(seed, 3)]);
    return tern_nn_sequential(first, middle, dropout, tern_nn_linear(7, 3));
}

static tern_optim *random_optim(uint64_t *seed, tern_module *net, bool *has_momentum)
{
    *has_momentum = false;
    switch (below(seed, 5)) {
    case 0:
        return tern_optim_sgd(net, .lr = 0.05);
    case 1:
        *has_momentum = true;
        return tern_optim_sgd(net, .lr = 0.05, .momentum = 0.8);
    case 2:
        *has_momentum = true;
        return tern_optim_sgd(net, .lr = 0.05, .momentum = 0.9, .nesterov = true);
    case 3:
        return tern_optim_adam(net, .lr = 0.01, .amsgrad = true);
    default:
        return tern_optim_adamw(net, .lr = 0.01);
    }
}

static void player_new(player *p, uint64_t *seed)
{
    static const char *const names[PARAMS] = {"0.weight", "0.bias", "3.weight", "3.bias"};
    p->net = random_net(seed);
    p->optim = random_optim(seed, p->net, &p->has_momentum);
    assert_non_null(tern_module_to(p->net, here));
    for (int i = 0; i < PARAMS; i++)
        p->params[i] = tern_module_parameter(p->net, names[i]);
    for (int i = 0; i < SIZES; i++) {
        p->x[i] = tern_zeros(tern_dims(rows_of[i], 5), .device = here);
        p->y[i] = tern_zeros(tern_dims(rows_of[i]), .dtype = TERN_INT64, .device = here);
    }
    p->loss = tern_zeros(tern_dims(), .device = here);
}

static void player_fill(player *p, int size, uint64_t *seed)
{
    float x[9 * 5];
    int64_t y[9];
    for (int i = 0; i < rows_of[size] * 5; i++)
        x[i] = (float)below(seed, 2001) / 1000 - 1;
    for (int i = 0; i < rows_of[size]; i++)
        y[i] = below(seed, 3);
    assert_int_equal(tern_from_host(p->x[size], x, (size_t)rows_of[size] * 5 * sizeof *x), 0);
    assert_int_equal(tern_from_host(p->y[size], y, (size_t)rows_of[size] * sizeof *y), 0);
}

// ---- pieces of steps ----------------------------------------------------------------------------

enum { ZERO = 1, LEARN = 2, CLIP = 4, UPDATE = 8, ZERO_LAST = 16, EVALUATE = 32 };

static const int pieces[] = {
    LEARN,
    ZERO | LEARN,
    UPDATE,
    ZERO | LEARN | UPDATE,
    ZERO | LEARN | CLIP | UPDATE,
    LEARN | UPDATE | ZERO_LAST,
    EVALUATE,
    ZERO | LEARN | UPDATE | EVALUATE,
    CLIP | UPDATE,
};

enum { PIECES = sizeof pieces / sizeof *pieces };

static tern_status keep_loss(player *p, tern_tensor *loss)
{
    tern_status status = TERN_OK;
    tern_no_grad {
        if (!tern_copy_(p->loss, loss))
            status = tern_error_code();
    }
    return status;
}

static tern_status learn(player *p, int size)
{
    tern_tensor *loss = tern_cross_entropy(tern_forward(p->net, p->x[size]), p->y[size]);
    tern_status status = tern_backward(loss);
    return status ? status : keep_loss(p, loss);
}

static tern_status evaluate(player *p, int size)
{
    tern_status status = TERN_OK;
    tern_module_eval(p->net);
    tern_no_grad {
        status = keep_loss(p, tern_cross_entropy(tern_forward(p->net, p->x[size]), p->y[size]));
    }
    tern_module_train(p->net, true);
    return status;
}

static tern_status do_piece(player *p, int piece, int size)
{
    tern_status status = TERN_OK;
    tern_scope scope = tern_scope_open();
    if (piece & ZERO)
        tern_optim_zero_grad(p->optim);
    if (piece & LEARN)
        status = learn(p, size);
    if (!status && piece & CLIP && !tern_clip_grad_norm(p->net, 0.5))
        status = tern_error_code();
    if (!status && piece & UPDATE)
        status = tern_optim_step(p->optim);
    if (!status && piece & EVALUATE)
        status = evaluate(p, size);
    if (piece & ZERO_LAST)
        tern_optim_zero_grad(p->optim);
    tern_scope_close(scope);
    return status;
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct play {
    bool replays;
    uint64_t seed;   // of the actions, the same in both runs
    uint64_t choice; // of what is replayed
    player players[PLAYERS];
    tern_cuda_graph *graphs[PLAYERS][PIECES][SIZES];
    tern_cuda_stream *streams[STREAMS]; // the first is the device's own
    tern_tensor *junk[JUNK];            // memory that comes and goes
    int captured, replayed, refused;
} play;

static void play_new(play *p, bool replays, uint64_t seed)
{
    *p = (play){.replays = replays, .seed = seed, .choice = ~seed};
    tern_manual_seed(seed);
    for (int i = 1; i < STREAMS; i++)
        p->streams[i] = tern_cuda_stream_new(here.index);
    for (int i = 0; i < PLAYERS; i++) {
        player_new(&p->players[i], &p->seed);
        for (int size = 0; size < SIZES; size++)
            player_fill(&p->players[i], size, &p->seed);
        assert_int_equal(do_piece(&p->players[i], ZERO | LEARN | UPDATE, 0), TERN_OK);
    }
}

static void play_free(play *p)
{
    (void)tern_cuda_stream_set(here.index, NULL);
    for (int i = 0; i < PLAYERS; i++)
        for (int piece = 0; piece < PIECES; piece++)
            for (int size = 0; size < SIZES; size++)
                tern_cuda_graph_free(p->graphs[i][piece][size]);
    for (int i = 0; i < JUNK; i++)
        tern_release(p->junk[i]);
    for (int i = 0; i < PLAYERS; i++) {
        tern_optim_free(p->players[i].optim);
        tern_module_free(p->players[i].net);
    }
    for (int i = 1; i < STREAMS; i++)
        tern_cuda_stream_free(p->streams[i]);
}

static void capture(play *p, player *on, int piece, int size, tern_cuda_graph **graph)
{
    tern_cuda_graph_free(*graph);
    (void)tern_cuda_stream_set(here.index, p->streams[below(&p->choice, STREAMS)]);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(do_piece(on, pieces[piece], size), TERN_OK);
    *graph = tern_cuda_graph_end();
    assert_no_error();
    assert_non_null(*graph);
    p->captured++;
}

// True when a graph did it.
static bool replayed(play *p, int who, int piece, int size)
{
    tern_cuda_graph **graph = &p->graphs[who][piece][size];
    if (!*graph || below(&p->choice, 6) == 0)
        capture(p, &p->players[who], piece, size, graph);
    (void)tern_cuda_stream_set(here.index, p->streams[below(&p->choice, STREAMS)]);
    if (!tern_cuda_graph_replay(*graph)) {
        p->replayed++;
        return true;
    }
    assert_error(TERN_ERR_STATE, "cuda_graph_replay");
    p->refused++;
    return false;
}

static void act_piece(play *p)
{
    const int who = below(&p->seed, PLAYERS), piece = below(&p->seed, PIECES);
    const int size = below(&p->seed, SIZES);
    if (p->replays && below(&p->choice, 5) > 0 && replayed(p, who, piece, size))
        return;
    (void)tern_cuda_stream_set(here.index, p->streams[below(&p->choice, STREAMS)]);
    assert_int_equal(do_piece(&p->players[who], pieces[piece], size), TERN_OK);
}

static void act_option(play *p)
{
    player *on = &p->players[below(&p->seed, PLAYERS)];
    const double value = 0.01 * (1 + below(&p->seed, 9));
    const bool momentum = below(&p->seed, 2);
    const char *name = momentum && on->has_momentum ? "momentum" : momentum ? "weight_decay" : "lr";
    assert_int_equal(tern_optim_set(on->optim, TERN_ALL_GROUPS, name, value), TERN_OK);
}

static void act_freeze(play *p)
{
    player *on = &p->players[below(&p->seed, PLAYERS)];
    tern_tensor *param = on->params[below(&p->seed, PARAMS - 1)];
    assert_non_null(tern_set_requires_grad(param, !tern_requires_grad(param)));
}

// Only where there are graphs: values must not depend on it.
static void act_memory(play *p)
{
    if (!p->replays)
        return;
    tern_tensor **junk = &p->junk[below(&p->choice, JUNK)];
    const int64_t numel = (int64_t)1 << below(&p->choice, 12);
    tern_release(*junk);
    *junk = tern_retain(tern_full(tern_dims(numel), NAN, .device = here));
    if (below(&p->choice, 8) == 0)
        assert_int_equal(tern_cuda_empty_cache(here.index), TERN_OK);
}

static void act(play *p)
{
    tern_scope scope = tern_scope_open();
    switch (below(&p->seed, 10)) {
    case 0:
        act_option(p);
        break;
    case 1:
        player_fill(&p->players[below(&p->seed, PLAYERS)], below(&p->seed, SIZES), &p->seed);
        break;
    case 2:
        tern_optim_zero_grad(p->players[below(&p->seed, PLAYERS)].optim);
        break;
    case 3:
        if (below(&p->seed, 3) == 0)
            act_freeze(p);
        break;
    default:
        act_piece(p);
    }
    act_memory(p);
    tern_scope_close(scope);
}

// ---- comparing ----------------------------------------------------------------------------------

// FNV-1a over the bits of a tensor.
static void hash_tensor(uint64_t *hash, tern_tensor *t)
{
    unsigned char bytes[256];
    const size_t nbytes = (size_t)tern_numel(t) * 4;
    assert_true(nbytes <= sizeof bytes);
    assert_int_equal(tern_to_host(t, bytes, nbytes), TERN_OK);
    for (size_t i = 0; i < nbytes; i++)
        *hash = (*hash ^ bytes[i]) * UINT64_C(1099511628211);
}

static uint64_t hash_of(play *p)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < PLAYERS; i++) {
        const player *on = &p->players[i];
        hash_tensor(&hash, on->loss);
        for (int k = 0; k < PARAMS; k++) {
            tern_tensor *grad = tern_grad(on->params[k]);
            hash_tensor(&hash, on->params[k]);
            if (grad)
                hash_tensor(&hash, grad);
            hash = (hash ^ (grad != NULL)) * UINT64_C(1099511628211);
            hash ^= (uint64_t)tern_optim_step_count(on->optim, k);
        }
    }
    return hash;
}

static void run(play *p, uint64_t hashes[ACTIONS])
{
    for (int i = 0; i < ACTIONS; i++) {
        act(p);
        hashes[i] = hash_of(p);
    }
}

static void replays_do_what_the_steps_do_or_are_refused(void **state)
{
    (void)state;
    const char *text = getenv("TERN_TEST_SEED");
    const uint64_t first = text ? strtoull(text, NULL, 10) : 1;
    const int runs = getenv("TERN_TEST_LONG") ? 3000 : 20;
    int captured = 0, replays = 0, refused = 0;
    for (uint64_t seed = first; seed < first + (uint64_t)runs; seed++) {
        uint64_t eager[ACTIONS], graphs[ACTIONS];
        tern_scope scope = tern_scope_open();
        play p;
        play_new(&p, false, seed);
        run(&p, eager);
        play_free(&p);
        play_new(&p, true, seed);
        run(&p, graphs);
        play_free(&p);
        tern_scope_close(scope);
        for (int i = 0; i < ACTIONS; i++)
            if (eager[i] != graphs[i])
                fail_msg("TERN_TEST_SEED=%llu: action %d", (unsigned long long)seed, i);
        captured += p.captured;
        replays += p.replayed;
        refused += p.refused;
    }
    print_message("TERN_TEST_SEED=%llu: %d runs, %d captures, %d replays, %d refused\n",
                  (unsigned long long)first, runs, captured, replays, refused);
    assert_true(replays > 4 * runs && refused > 0);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {CHECK_TEST(replays_do_what_the_steps_do_or_are_refused)};
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
