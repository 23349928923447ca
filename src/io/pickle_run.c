// SPDX-License-Identifier: Apache-2.0
// The opcodes. Their bytes are those of Python's pickle.py.
#include "io/pickle.h"

#include <stdio.h>
#include <string.h>

#define TO_MARK (-1) // as many values as lie above the last mark

// ---- the stack ----------------------------------------------------------------------------------

static tern_status push(tern_pickle *p, tern_pickle_ref ref)
{
    if (ref == TERN_PICKLE_NO_VALUE)
        return tern_error_code();
    if (p->depth == TERN_PICKLE_STACK)
        return tern_pickle_bad(p, "puts more than %d values on the stack", TERN_PICKLE_STACK);
    p->stack[p->depth++] = ref;
    return TERN_OK;
}

// How many values lie above the last mark.
static int above(const tern_pickle *p)
{
    return p->depth - (p->marks ? p->mark[p->marks - 1] : 0);
}

static tern_status want(const tern_pickle *p, int count, const char *op)
{
    if (above(p) < count)
        return tern_pickle_bad(p, "has %s at byte %lld with too little on the stack", op,
                               (long long)p->read);
    return TERN_OK;
}

// Takes the mark away; *count values lie above where it was.
static tern_status pop_mark(tern_pickle *p, const char *op, int *count)
{
    if (p->marks == 0)
        return tern_pickle_bad(p, "has %s at byte %lld without a mark", op, (long long)p->read);
    *count = above(p);
    p->marks--;
    return TERN_OK;
}

// ---- opcodes ------------------------------------------------------------------------------------
// Each is handed the operand of the table below.

static tern_status constant(tern_pickle *p, int ref)
{
    return push(p, (tern_pickle_ref)ref);
}

static tern_status natural(tern_pickle *p, int nbytes)
{
    uint64_t value;
    TERN_TRY(tern_pickle_integer(p, nbytes, &value));
    return push(p, tern_pickle_new_int(p, (int64_t)value));
}

static tern_status signed32(tern_pickle *p, int nbytes)
{
    uint64_t value;
    TERN_TRY(tern_pickle_integer(p, nbytes, &value));
    return push(p, tern_pickle_new_int(p, (int32_t)(uint32_t)value));
}

// One that is too long for int64_t is left out.
static tern_status huge(tern_pickle *p, int count)
{
    char what[40];
    unsigned char byte;
    for (int i = 0; i < count; i++)
        TERN_TRY(tern_pickle_byte(p, &byte));
    snprintf(what, sizeof what, "an integer of %d bytes", count);
    return push(p, tern_pickle_unreadable(p, what));
}

static tern_status long1(tern_pickle *p, int max)
{
    unsigned char count;
    uint64_t value;
    TERN_TRY(tern_pickle_byte(p, &count));
    if (count > max)
        return huge(p, count);
    TERN_TRY(tern_pickle_integer(p, count, &value));
    if (count > 0 && count < 8 && value >> (8 * count - 1)) // negative
        value |= UINT64_MAX << (8 * count);
    return push(p, tern_pickle_new_int(p, (int64_t)value));
}

static tern_status binfloat(tern_pickle *p, int nbytes)
{
    uint64_t bits;
    double value;
    TERN_TRY(tern_pickle_integer(p, nbytes, &bits));
    bits = __builtin_bswap64(bits); // big-endian, as nothing else in a pickle
    memcpy(&value, &bits, sizeof value);
    return push(p, tern_pickle_new_double(p, value));
}

static tern_status text(tern_pickle *p, int nbytes)
{
    uint64_t length;
    TERN_TRY(tern_pickle_integer(p, nbytes, &length));
    return push(p, tern_pickle_read_text(p, TERN_PICKLE_TEXT, (uint32_t)length));
}

static tern_status bytes(tern_pickle *p, int nbytes)
{
    uint64_t length;
    TERN_TRY(tern_pickle_integer(p, nbytes, &length));
    return push(p, tern_pickle_read_text(p, TERN_PICKLE_BYTES, (uint32_t)length));
}

// A line, which is a name of Python's.
static tern_status read_name(tern_pickle *p, char *name, int size)
{
    for (int length = 0; length < size; length++) {
        unsigned char byte;
        TERN_TRY(tern_pickle_byte(p, &byte));
        name[length] = byte == '\n' ? 0 : (char)byte;
        if (byte == '\n')
            return TERN_OK;
        if (byte <= ' ' || byte > '~')
            return tern_pickle_bad(p, "has a name with the byte 0x%02x", byte);
    }
    return tern_pickle_bad(p, "has a name of more than %d bytes", size - 1);
}

static tern_status global(tern_pickle *p, int size)
{
    char module[128], name[128];
    TERN_TRY(read_name(p, module, size));
    TERN_TRY(read_name(p, name, size));
    return push(p, tern_pickle_find_global(p, module, name));
}

static tern_status put(tern_pickle *p, int nbytes)
{
    uint64_t index;
    TERN_TRY(tern_pickle_integer(p, nbytes, &index));
    TERN_TRY(want(p, 1, "BINPUT"));
    return tern_pickle_memo_set(p, (uint32_t)index, p->stack[p->depth - 1]);
}

static tern_status get(tern_pickle *p, int nbytes)
{
    uint64_t index;
    TERN_TRY(tern_pickle_integer(p, nbytes, &index));
    return push(p, tern_pickle_memo_get(p, (uint32_t)index));
}

static tern_status mark(tern_pickle *p, int max)
{
    if (p->marks == max)
        return tern_pickle_bad(p, "has more than %d marks", max);
    p->mark[p->marks++] = (uint16_t)p->depth;
    return TERN_OK;
}

static tern_status tuple(tern_pickle *p, int count)
{
    if (count == TO_MARK)
        TERN_TRY(pop_mark(p, "TUPLE", &count));
    TERN_TRY(want(p, count, "TUPLE"));
    p->depth -= count;
    return push(p, tern_pickle_new_tuple(p, p->stack + p->depth, (uint32_t)count));
}

static tern_status container(tern_pickle *p, int type)
{
    return push(p, tern_pickle_new_container(p, (tern_pickle_type)type));
}

// The last `count` values go into the list below them.
static tern_status append(tern_pickle *p, int count)
{
    if (count == TO_MARK)
        TERN_TRY(pop_mark(p, "APPENDS", &count));
    TERN_TRY(want(p, count + 1, "APPENDS"));
    p->depth -= count;
    const tern_pickle_ref list = p->stack[p->depth - 1];
    if (tern_pickle_type_of(p, list) == TERN_PICKLE_OBJECT)
        return TERN_OK;
    if (tern_pickle_type_of(p, list) != TERN_PICKLE_LIST)
        return tern_pickle_bad(p, "appends to what is no list");
    return tern_pickle_extend(p, list, p->stack + p->depth, (uint32_t)count);
}

// Likewise keys and values into a dictionary.
static tern_status set_items(tern_pickle *p, int count)
{
    if (count == TO_MARK)
        TERN_TRY(pop_mark(p, "SETITEMS", &count));
    TERN_TRY(want(p, count + 1, "SETITEMS"));
    p->depth -= count;
    const tern_pickle_ref dict = p->stack[p->depth - 1];
    const tern_pickle_type type = tern_pickle_type_of(p, dict);
    if (type == TERN_PICKLE_OBJECT)
        return TERN_OK;
    if (type != TERN_PICKLE_DICT && type != TERN_PICKLE_ORDERED_DICT)
        return tern_pickle_bad(p, "sets items of what is no dictionary");
    if (count % 2 != 0)
        return tern_pickle_bad(p, "sets a key without a value");
    return tern_pickle_extend(p, dict, p->stack + p->depth, (uint32_t)count);
}

static tern_status persistent(tern_pickle *p, int count)
{
    TERN_TRY(want(p, count, "BINPERSID"));
    return push(p, tern_pickle_persistent(p, p->stack[--p->depth]));
}

static tern_status reduce(tern_pickle *p, int count)
{
    TERN_TRY(want(p, count, "REDUCE"));
    p->depth -= count;
    return push(p, tern_pickle_reduce(p, p->stack[p->depth], p->stack[p->depth + 1]));
}

static tern_status build(tern_pickle *p, int count)
{
    TERN_TRY(want(p, count, "BUILD"));
    p->depth--;
    return tern_pickle_build(p, p->stack[p->depth - 1], p->stack[p->depth]);
}

static tern_status stop(tern_pickle *p, int values)
{
    if (p->depth != values || p->marks != 0)
        return tern_pickle_bad(p, "stops with %d values and %d marks, not with one value", p->depth,
                               p->marks);
    const int64_t more = p->source.left + (int64_t)(p->source.have - p->source.next);
    if (p->whole && more > 0)
        return tern_pickle_bad(p, "goes on for %lld bytes after its end", (long long)more);
    p->result = p->stack[0];
    p->stopped = true;
    return TERN_OK;
}

static const struct {
    tern_status (*run)(tern_pickle *p, int operand);
    int operand;
} opcodes[256] = {
    ['('] = {mark, TERN_PICKLE_MARKS},
    [')'] = {tuple, 0},
    [0x85] = {tuple, 1},
    [0x86] = {tuple, 2},
    [0x87] = {tuple, 3},
    ['t'] = {tuple, TO_MARK},
    ['N'] = {constant, TERN_PICKLE_NONE_REF},
    [0x88] = {constant, TERN_PICKLE_TRUE_REF},
    [0x89] = {constant, TERN_PICKLE_FALSE_REF},
    ['K'] = {natural, 1},
    ['M'] = {natural, 2},
    ['J'] = {signed32, 4},
    [0x8a] = {long1, 8},
    ['G'] = {binfloat, 8},
    ['X'] = {text, 4},
    ['U'] = {text, 1}, // Python 2's
    ['B'] = {bytes, 4},
    ['C'] = {bytes, 1},
    ['c'] = {global, 128},
    ['q'] = {put, 1},
    ['r'] = {put, 4},
    ['h'] = {get, 1},
    ['j'] = {get, 4},
    [']'] = {container, TERN_PICKLE_LIST},
    ['}'] = {container, TERN_PICKLE_DICT},
    [0x8f] = {container, TERN_PICKLE_LIST}, // EMPTY_SET
    ['a'] = {append, 1},
    ['e'] = {append, TO_MARK},
    ['s'] = {set_items, 2},
    ['u'] = {set_items, TO_MARK},
    ['Q'] = {persistent, 1},
    ['R'] = {reduce, 2},
    [0x81] = {reduce, 2}, // NEWOBJ
    ['b'] = {build, 2},
    ['.'] = {stop, 1},
};

static tern_status check_protocol(tern_pickle *p)
{
    unsigned char proto, version;
    TERN_TRY(tern_pickle_byte(p, &proto));
    if (proto != 0x80)
        return tern_pickle_bad(p, "begins with the byte 0x%02x, not with a protocol", proto);
    TERN_TRY(tern_pickle_byte(p, &version));
    if (version != 2 && version != 3)
        return tern_pickle_bad(p,
                               "is of protocol %d, which torch.load does not read either: save it "
                               "anew without pickle_protocol",
                               version);
    return TERN_OK;
}

tern_status tern_pickle_run(tern_pickle *p)
{
    p->depth = p->marks = 0;
    p->memo = (tern_pickle_words){.pages = NULL};
    p->stopped = false;
    TERN_TRY(check_protocol(p));
    while (!p->stopped) {
        unsigned char opcode;
        TERN_TRY(tern_pickle_byte(p, &opcode));
        if (!opcodes[opcode].run)
            return tern_pickle_bad(p, "has the opcode 0x%02x at byte %lld, which no state dict has",
                                   opcode, (long long)(p->read - 1));
        TERN_TRY(opcodes[opcode].run(p, opcodes[opcode].operand));
    }
    return TERN_OK;
}

void tern_pickle_free(tern_pickle *p)
{
    tern_arena_free(&p->arena);
}
