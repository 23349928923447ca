// SPDX-License-Identifier: Apache-2.0
// The first SIGINT or SIGTERM is noted, the second one does what it did before.
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <tern/progress.h>

#include "base/error.h"
#include "base/process.h"

enum { SIGNALS = 2 };

static const int numbers[SIGNALS] = {SIGINT, SIGTERM};

// What the handler reads was written before it was put there.
static struct {
    pthread_mutex_t mutex; // of `depth`, and of putting handlers there and taking them away
    int depth;             // of calls of catch
    bool caught[SIGNALS];
    struct sigaction before[SIGNALS];
    atomic_bool interrupted;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void give_back(int i)
{
    if (state.caught[i])
        (void)sigaction(numbers[i], &state.before[i], NULL);
}

static void on_signal(int number)
{
    const int saved = errno;
    (void)number;
    atomic_store_explicit(&state.interrupted, true, memory_order_relaxed);
    for (int i = 0; i < SIGNALS; i++)
        give_back(i);
    errno = saved;
}

static void catch_signal(int i)
{
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (sigaction(numbers[i], NULL, &state.before[i]) ||
        (!(state.before[i].sa_flags & SA_SIGINFO) && state.before[i].sa_handler == SIG_IGN))
        return;
    sigemptyset(&ours.sa_mask);
    for (int k = 0; k < SIGNALS; k++)
        sigaddset(&ours.sa_mask, numbers[k]); // the handler gives both back
    state.caught[i] = true;
    (void)sigaction(numbers[i], &ours, NULL);
}

void tern_interrupt_catch_with(const tern_interrupt_catch_options *o)
{
    if (!o) {
        (void)tern_null_error("interrupt_catch", "options");
        return;
    }
    tern_lock(&state.mutex);
    if (state.depth++ == 0) {
        atomic_store_explicit(&state.interrupted, false, memory_order_relaxed);
        catch_signal(0);
        if (o->terminate)
            catch_signal(1);
    }
    tern_unlock(&state.mutex);
}

bool tern_interrupted(void)
{
    return atomic_load_explicit(&state.interrupted, memory_order_relaxed);
}

void tern_interrupt_release(void)
{
    tern_lock(&state.mutex);
    if (state.depth > 0 && --state.depth == 0)
        for (int i = 0; i < SIGNALS; i++) {
            give_back(i);
            state.caught[i] = false;
        }
    tern_unlock(&state.mutex);
}
