// SPDX-License-Identifier: Apache-2.0
// Policy gradient (REINFORCE): learns to balance a pole on a cart.
#include <math.h>
#include <stdio.h>
#include <tern/tern.h>

#define EPISODES 100
#define LONGEST  200
#define GAMMA    0.99

// The cart and its pole 0.02 seconds later (Barto, Sutton and Anderson 1983).
static void push(double state[4], bool right)
{
    double v = state[1], angle = state[2], spin = state[3];
    double force = right ? 10 : -10, sine = sin(angle), cosine = cos(angle);
    double pull = (force + 0.05 * spin * spin * sine) / 1.1;
    double twist = (9.8 * sine - cosine * pull) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    double along = pull - 0.05 * twist * cosine / 1.1;
    const double rate[4] = {v, along, spin, twist};
    for (int i = 0; i < 4; i++)
        state[i] += 0.02 * rate[i];
}

// Plays an episode: log_probs gets the logarithm of the probability of each action taken.
static int play(tern_module *policy, tern_tensor **log_probs)
{
    double state[4] = {0};
    int steps = 0;
    tern_tensor *start = tern_sub_scalar(tern_mul_scalar(tern_rand(tern_dims(4)), 0.1), 0.05);
    if (tern_to_host(tern_to_dtype(start, TERN_FLOAT64), state, sizeof state))
        return 0;
    while (steps < LONGEST && fabs(state[0]) < 2.4 && fabs(state[2]) < 0.2095 &&
           !tern_error_pending()) {
        tern_tensor *x = tern_to_dtype(tern_from_data(tern_dims(4), state), TERN_FLOAT32);
        tern_tensor *log_prob = tern_log_softmax(tern_forward(policy, x), 0);
        double left = tern_item(tern_exp(tern_select(log_prob, 0, 0)));
        int action = tern_item(tern_rand(tern_dims(1))) > left; // inverse transform
        log_probs[steps++] = tern_select(log_prob, 0, action);
        push(state, action);
    }
    return steps;
}

// What is still to come at each step, discounted, with mean 0 and standard deviation 1.
static tern_tensor *returns(int steps)
{
    float value[LONGEST];
    for (int t = 0; t < steps; t++)
        value[t] = (float)((1 - pow(GAMMA, steps - t)) / (1 - GAMMA));
    tern_tensor *r = tern_from_data(tern_dims(steps), value);
    tern_tensor *deviation = tern_std(r, TERN_ALL_AXES, 1, false);
    return tern_div(tern_sub(r, tern_mean_all(r)), deviation);
}

int main(void)
{
    tern_manual_seed(11);
    tern_module *policy =
        tern_nn_sequential(tern_nn_linear(4, 32), tern_nn_tanh(), tern_nn_linear(32, 2));
    tern_optim *opt = tern_optim_adam(policy, .lr = 1e-2);

    tern_each_step (episode, EPISODES) {
        tern_tensor *log_probs[LONGEST];
        int steps = play(policy, log_probs);
        tern_tensor *gain = tern_mul(tern_stack(log_probs, steps, 0), returns(steps));
        tern_tensor *loss = tern_neg(tern_mean_all(gain));
        tern_optim_zero_grad(opt);
        if (!tern_backward(loss) && !tern_optim_step(opt) && episode % 10 == 0)
            printf("episode %d: %d steps, loss %.6f\n", episode, steps, tern_item(loss));
    }

    tern_free(opt, policy);
    return tern_error_print(stderr);
}
