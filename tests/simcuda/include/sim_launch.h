// SPDX-License-Identifier: Apache-2.0
// Launches: TERN_LAUNCH((kernel<T, N>), grid, block, shared_bytes, stream, arguments...). The
// arguments take the kernel's own types before they are stored, as they do on a device.
#ifndef TERN_SIM_LAUNCH_H
#define TERN_SIM_LAUNCH_H

struct tern_sim_pointer { // an argument that is one
    const void *value;
    int index; // of the argument, from 1
};

struct tern_sim_launch {
    const char *name;
    const void *kernel;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    const tern_sim_pointer *pointers;
    int pointer_count;
    // the body of one thread, and what it works on: owned by the launch
    void (*run)(const void *state);
    void (*destroy)(void *state);
    void *state;
};

extern "C" void tern_sim_launch_kernel(const tern_sim_launch *launch);

template <class... P> struct tern_sim_call_state {
    void (*kernel)(P...);
    std::tuple<P...> arguments;

    static void run(const void *state)
    {
        const tern_sim_call_state *call = static_cast<const tern_sim_call_state *>(state);
        std::apply(call->kernel, call->arguments);
    }

    static void destroy(void *state)
    {
        delete static_cast<tern_sim_call_state *>(state);
    }
};

template <class T>
static inline void tern_sim_note_pointer(T *argument, int index, tern_sim_pointer *notes,
                                         int *count)
{
    if (argument)
        notes[(*count)++] = {(const void *)argument, index};
}

template <class T>
static inline void tern_sim_note_pointer(const T &, int, tern_sim_pointer *, int *)
{
}

template <class... P, class... A>
static inline void tern_sim_start(const char *name, void (*kernel)(P...), dim3 grid, dim3 block,
                                  size_t shared_bytes, cudaStream_t stream, A... arguments)
{
    static_assert(sizeof...(P) == sizeof...(A), "a kernel takes all of its arguments");
    typedef tern_sim_call_state<P...> State;
    tern_sim_pointer pointers[sizeof...(P) + 1];
    int index = 0, count = 0;
    (tern_sim_note_pointer(static_cast<P>(arguments), ++index, pointers, &count), ...);
    State *state = new State{kernel, std::tuple<P...>(static_cast<P>(arguments)...)};
    tern_sim_launch launch = {name,         reinterpret_cast<const void *>(kernel),
                              grid,         block,
                              shared_bytes, stream,
                              pointers,     count,
                              State::run,   State::destroy,
                              state};
    tern_sim_launch_kernel(&launch);
}

#define TERN_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                \
    tern_sim_start(#kernel, kernel, grid, block, shared_bytes, (cudaStream_t)(stream),             \
                   ##__VA_ARGS__)

template <class... P>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}

template <class... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute,
                                               int value)
{
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}

#endif
