// SPDX-License-Identifier: Apache-2.0
// Opens the shared library that is named, lets threads use it, and closes it while they live: what
// is done when a thread ends must still be there. 1,000 times.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS  1000
#define THREADS 3

typedef struct round {
    void *library;
    pthread_barrier_t used, closed;
} round;

// Leaves the scope to the end of the thread.
static void *use(void *argument)
{
    round *r = argument;
    void *symbol = dlsym(r->library, "tern_scope_open");
    uint64_t (*open_scope)(void);
    memcpy(&open_scope, &symbol, sizeof open_scope);
    void *failed = !symbol || open_scope() == 0 ? argument : NULL;
    pthread_barrier_wait(&r->used);
    pthread_barrier_wait(&r->closed);
    return failed;
}

static int run_round(const char *path)
{
    round r = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    pthread_t threads[THREADS];
    if (!r.library)
        return fprintf(stderr, "%s\n", dlerror());
    pthread_barrier_init(&r.used, NULL, THREADS + 1);
    pthread_barrier_init(&r.closed, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, use, &r) != 0)
            return fprintf(stderr, "no thread\n");
    pthread_barrier_wait(&r.used);
    int failed = dlclose(r.library);
    pthread_barrier_wait(&r.closed);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        failed += pthread_join(threads[i], &result) != 0 || result;
    }
    pthread_barrier_destroy(&r.used);
    pthread_barrier_destroy(&r.closed);
    return failed;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < ROUNDS; i++)
        if (argc != 2 || run_round(argv[1]))
            return fprintf(stderr, "round %d failed\n", i) > 0;
    return 0;
}
