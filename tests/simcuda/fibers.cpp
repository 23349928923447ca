// SPDX-License-Identifier: Apache-2.0
// Switching stacks on x86-64: the six registers that a call keeps, and the stack pointer.
#include "fibers.h"

#include <cstdlib>
#include <sys/mman.h>

#ifndef __x86_64__
#error "the simulated device switches stacks on x86-64 only"
#endif

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

Scheduler scheduler;

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
    scheduler.tsan_fiber = __tsan_get_current_fiber();
#endif
}

void enter_first_time()
{
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &scheduler.bottom, &scheduler.size);
#endif
}

} // namespace sim
