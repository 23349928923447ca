// SPDX-License-Identifier: Apache-2.0
// Switching stacks on x86-64: the six registers that a call keeps, and the stack pointer.
#include "fibers.h"

#include <cstdlib>
#include <sys/mman.h>

#include "sanitizers.h"

#ifndef __x86_64__
#error "the simulated device switches stacks on x86-64 only"
#endif

extern "C" void tern_sim_switch_stack(void **save, void *load);
__asm__(".text\n"
        ".globl tern_sim_switch_stack\n"
        ".hidden tern_sim_switch_stack\n"
        ".type tern_sim_switch_stack,@function\n"
        "tern_sim_switch_stack:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp,(%rdi)\n"
        "movq %rsi,%rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\n"
        "popq %rcx\n"
        "jmp *%rcx\n"
        ".size tern_sim_switch_stack,.-tern_sim_switch_stack\n");

namespace sim
{

static constexpr size_t stack_size = 64 << 10; // a page of it is a guard

struct Stack {
    void *pointer; // while nobody runs on it
    char *memory;
    void *tsan_fiber, *asan_stack;
};

static void *scheduler_pointer;
#if SIM_TSAN
static void *scheduler_fiber;
#endif
#if SIM_ASAN
static const void *scheduler_bottom;
static size_t scheduler_size;
static void *scheduler_asan_stack;
#endif

Stack *new_stack(void (*main)())
{
    static size_t made;
    Stack *stack = new Stack();
    stack->memory = (char *)mmap(nullptr, stack_size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack->memory == MAP_FAILED)
        abort();
    mprotect(stack->memory, 4096, PROT_NONE);
#if SIM_TSAN
    stack->tsan_fiber = __tsan_create_fiber(0);
#endif
    // Staggered, or all stacks would share the same sets of the cache.
    void **top = (void **)(stack->memory + stack_size - made++ % 13 * 320);
    *--top = nullptr; // where a return address would be: keeps the alignment of a call
    *--top = (void *)main;
    for (int registers = 0; registers < 6; registers++)
        *--top = nullptr;
    stack->pointer = top;
    return stack;
}

void begin_scheduling()
{
#if SIM_TSAN
    scheduler_fiber = __tsan_get_current_fiber();
#endif
}

void switch_to(Stack *stack)
{
#if SIM_TSAN
    __tsan_switch_to_fiber(stack->tsan_fiber, 1); // 1: a switch orders nothing
#endif
#if SIM_ASAN
    __sanitizer_start_switch_fiber(&scheduler_asan_stack, stack->memory, stack_size);
#endif
    tern_sim_switch_stack(&scheduler_pointer, stack->pointer);
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(scheduler_asan_stack, nullptr, nullptr);
#endif
}

void leave(Stack *stack)
{
#if SIM_TSAN
    __tsan_switch_to_fiber(scheduler_fiber, 1);
#endif
#if SIM_ASAN
    __sanitizer_start_switch_fiber(&stack->asan_stack, scheduler_bottom, scheduler_size);
#endif
    tern_sim_switch_stack(&stack->pointer, scheduler_pointer);
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(stack->asan_stack, &scheduler_bottom, &scheduler_size);
#endif
}

void enter_first_time()
{
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_bottom, &scheduler_size);
#endif
}

} // namespace sim
