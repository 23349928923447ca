// SPDX-License-Identifier: Apache-2.0
// CUDA's atomic functions on 4 and 8 bytes. Compare and exchange on the integer image, so that TSan
// takes them for atomic; without order between threads, as on a device.
#ifndef TERN_SIM_ATOMICS_H
#define TERN_SIM_ATOMICS_H

template <class T, class Change> static inline T tern_sim_atomic(T *address, Change change)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics: 4 or 8 bytes");
    typedef typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type Image;
    Image *image = reinterpret_cast<Image *>(address);
    Image before = __atomic_load_n(image, __ATOMIC_RELAXED), after;
    T old;
    do {
        std::memcpy(&old, &before, sizeof old);
        T changed = change(old);
        std::memcpy(&after, &changed, sizeof after);
    } while (!__atomic_compare_exchange_n(image, &before, after, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return old;
}

// The value takes the type of what is changed, as CUDA's overloads do.
template <class T> struct tern_sim_same {
    typedef T type;
};

#define TERN_SIM_ATOMIC(name, changed)                                                             \
    template <class T> static inline T name(T *address, typename tern_sim_same<T>::type value)     \
    {                                                                                              \
        return tern_sim_atomic(address, [value](T old) -> T { return changed; });                  \
    }

TERN_SIM_ATOMIC(atomicAdd, (T)(old + value))
TERN_SIM_ATOMIC(atomicSub, (T)(old - value))
TERN_SIM_ATOMIC(atomicMax, old < value ? value : old)
TERN_SIM_ATOMIC(atomicMin, value < old ? value : old)
TERN_SIM_ATOMIC(atomicExch, ((void)old, value))
TERN_SIM_ATOMIC(atomicAnd, (T)(old &value))
TERN_SIM_ATOMIC(atomicOr, (T)(old | value))
TERN_SIM_ATOMIC(atomicXor, (T)(old ^ value))
TERN_SIM_ATOMIC(atomicInc, old >= value ? 0 : old + 1)

template <class T>
static inline T atomicCAS(T *address, typename tern_sim_same<T>::type compare,
                          typename tern_sim_same<T>::type value)
{
    return tern_sim_atomic(address,
                           [compare, value](T old) -> T { return old == compare ? value : old; });
}

#endif
