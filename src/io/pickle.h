// SPDX-License-Identifier: Apache-2.0
// Python pickles of protocols 2 and 3, as far as torch.save writes them: a stack machine that
// builds values of its own. Nothing is ever imported or called: what is made by something that is
// not on the list is an object, of which there is the name of that alone.
// Memory is bounded by the bytes that were read (TERN_PICKLE_BASE + 3 of theirs).
#ifndef TERN_SRC_IO_PICKLE_H
#define TERN_SRC_IO_PICKLE_H

#include "io/arena.h"
#include "io/file.h"
#include "io/torch_dtype.h"

#define TERN_PICKLE_STACK      4096
#define TERN_PICKLE_MARKS      256
#define TERN_PICKLE_MEMO       (1 << 20)
#define TERN_PICKLE_VALUES     (1 << 22)
#define TERN_PICKLE_TEXT_BYTES (1 << 20)
#define TERN_PICKLE_BASE       16384
#define TERN_PICKLE_PAGE       256 // words

// ---- bytes --------------------------------------------------------------------------------------

// A range of a file, fetched piece by piece, or bytes in memory.
typedef struct tern_pickle_source {
    tern_file *file;            // named in errors
    int64_t at, left;           // what is fetched next, and how many bytes there still are
    uint32_t crc;               // crc32 of what was fetched
    const unsigned char *bytes; // those here
    size_t next, have;
    unsigned char buffer[2048];
} tern_pickle_source;

// ---- values -------------------------------------------------------------------------------------

// A value: a small integer, None, a bool or a global itself, else where it lies in the words.
typedef uint32_t tern_pickle_ref;

#define TERN_PICKLE_SMALL      0x80000000u // set: an integer of 31 bits
#define TERN_PICKLE_NO_VALUE   0u
#define TERN_PICKLE_NONE_REF   1u
#define TERN_PICKLE_FALSE_REF  2u
#define TERN_PICKLE_TRUE_REF   3u
#define TERN_PICKLE_GLOBALS    16u // tern_pickle_global
#define TERN_PICKLE_STORAGES   40u // classes of storages, by tern_torch_dtypes
#define TERN_PICKLE_DTYPES     80u // dtypes, likewise
#define TERN_PICKLE_FIRST_WORD 128u

typedef enum tern_pickle_type {
    TERN_PICKLE_NONE,
    TERN_PICKLE_BOOL,
    TERN_PICKLE_INT,
    TERN_PICKLE_DOUBLE,
    TERN_PICKLE_TEXT,
    TERN_PICKLE_TUPLE, // torch.Size is one
    TERN_PICKLE_LIST,
    TERN_PICKLE_DICT,
    TERN_PICKLE_ORDERED_DICT,
    TERN_PICKLE_GLOBAL, // of the list of what may be named
    TERN_PICKLE_STORAGE,
    TERN_PICKLE_TENSOR,
    TERN_PICKLE_BYTES,
    TERN_PICKLE_OBJECT,    // the text is the name of its class or function, "collections.deque"
    TERN_PICKLE_UNREADABLE // the text says what it is, "a complex number"
} tern_pickle_type;

// The first word of a value has its type here, and its length above.
#define TERN_PICKLE_TYPE_BITS 4

// An array of words that grows by pages; those that nobody wrote to are not there.
typedef struct tern_pickle_words {
    uint32_t **pages;
    uint32_t page_count;
} tern_pickle_words;

typedef struct tern_pickle {
    tern_pickle_source source;
    const char *name;       // of the pickle, in errors
    int storage_items;      // of a persistent id: 5, or 6 before PyTorch 1.6
    bool whole;             // nothing follows in the source
    int64_t read;           // bytes so far
    tern_arena arena;       // of all that follows
    tern_pickle_words heap; // values
    tern_pickle_words memo; // references
    uint32_t used;          // words of the heap
    int64_t values;         // on the heap
    uint32_t last_storage;  // each knows the one before it; 0: none
    int64_t storages;       // times that one is named
    int64_t attributes;     // of tensors and dictionaries, which are left out
    tern_pickle_ref result;
    int depth, marks;
    bool stopped;
    uint16_t mark[TERN_PICKLE_MARKS]; // depths of the stack
    tern_pickle_ref stack[TERN_PICKLE_STACK];
} tern_pickle;

// Reads the next pickle of the source; its value is ->result, and those of earlier ones stay. What
// is set before: source, name, storage_items, whole; all else is zero. Freed by the caller also
// after a failure.
tern_status tern_pickle_run(tern_pickle *p);
void tern_pickle_free(tern_pickle *p); // a zeroed one is fine

// The file, the pickle and these words as a TERN_ERR_FORMAT.
tern_status tern_pickle_bad(const tern_pickle *p, const char *format, ...) TERN_PRINTF_(2, 3);

// ---- looking at values --------------------------------------------------------------------------

tern_pickle_type tern_pickle_type_of(const tern_pickle *p, tern_pickle_ref ref);
// Of a BOOL too.
int64_t tern_pickle_int(const tern_pickle *p, tern_pickle_ref ref);
double tern_pickle_double(const tern_pickle *p, tern_pickle_ref ref);
// Bytes of what has a text, items of a tuple, list or dictionary.
uint32_t tern_pickle_length(const tern_pickle *p, tern_pickle_ref ref);
// Copies the bytes of a text (of BYTES, OBJECT and UNREADABLE too), and a final 0, to `text`, at
// most size - 1 of them.
void tern_pickle_text(const tern_pickle *p, tern_pickle_ref ref, char *text, size_t size);
unsigned char tern_pickle_byte_at(const tern_pickle *p, tern_pickle_ref text, uint32_t index);
bool tern_pickle_text_is(const tern_pickle *p, tern_pickle_ref ref, const char *text);
// Same type and value; for texts and integers, which keys are.
bool tern_pickle_same_key(const tern_pickle *p, tern_pickle_ref a, tern_pickle_ref b);
uint32_t tern_pickle_hash_key(const tern_pickle *p, tern_pickle_ref key);
// Item `index` of a tuple.
tern_pickle_ref tern_pickle_item(const tern_pickle *p, tern_pickle_ref tuple, uint32_t index);
// A dtype that is named, torch.float32, or that of a class of storages; NULL for another global.
const tern_torch_dtype *tern_pickle_dtype(tern_pickle_ref global);
const tern_torch_dtype *tern_pickle_storage_class(tern_pickle_ref global);

// Goes over the items of a tuple, list or dictionary.
typedef struct tern_pickle_cursor {
    const tern_pickle *of;
    bool pairs;
    uint32_t at, left; // of the piece that it is in
    uint32_t next;     // the piece after that
    uint32_t index;    // of the item that comes
} tern_pickle_cursor;
tern_pickle_cursor tern_pickle_items(const tern_pickle *p, tern_pickle_ref container);
// The next one, and its key in a dictionary; false after the last.
bool tern_pickle_next(tern_pickle_cursor *cursor, tern_pickle_ref *key, tern_pickle_ref *item);

// The `_metadata` of a state dict: an OrderedDict, or TERN_PICKLE_NO_VALUE.
tern_pickle_ref tern_pickle_metadata(const tern_pickle *p, tern_pickle_ref dict);

typedef struct tern_pickle_storage {
    const tern_torch_dtype *dtype;
    uint64_t key;
    tern_pickle_ref location; // a text
    int64_t numel;
    uint32_t before; // the storage that was named before it; 0: none
} tern_pickle_storage;
tern_pickle_storage tern_pickle_storage_of(const tern_pickle *p, tern_pickle_ref storage);

typedef struct tern_pickle_tensor {
    const tern_torch_dtype *dtype; // that of its storage, unless that is untyped
    tern_pickle_ref storage, size, stride;
    int64_t offset;
} tern_pickle_tensor;
tern_pickle_tensor tern_pickle_tensor_of(const tern_pickle *p, tern_pickle_ref tensor);

// ---- making values: for the machine -------------------------------------------------------------
// TERN_PICKLE_NO_VALUE on failure.

// The globals that stand for something else than a dtype.
typedef enum tern_pickle_global {
    TERN_GLOBAL_ORDERED_DICT,
    TERN_GLOBAL_COUNTER,
    TERN_GLOBAL_TENSOR_V2,
    TERN_GLOBAL_TENSOR_V3,
    TERN_GLOBAL_PARAMETER,
    TERN_GLOBAL_SIZE,
    TERN_GLOBAL_DEVICE,
    TERN_GLOBAL_TENSOR_V1,
    TERN_GLOBAL_PARAMETER_WITH_STATE,
    TERN_GLOBAL_FROM_TYPE,
    TERN_GLOBAL_TENSOR_CLASS,
    TERN_GLOBAL_PARAMETER_CLASS,
    TERN_GLOBAL_LAYOUT,
    TERN_GLOBAL_ENCODE,
    TERN_GLOBAL_BYTES,
    TERN_GLOBAL_BYTEARRAY,
    TERN_GLOBAL_SET,
    TERN_GLOBAL_COMPLEX
} tern_pickle_global;

// Where a word is. `at` is below what was made.
static inline uint32_t *tern_pickle_word(const tern_pickle *p, uint32_t at)
{
    return &p->heap.pages[at / TERN_PICKLE_PAGE][at % TERN_PICKLE_PAGE];
}

// A new value of `words` words after its head.
tern_pickle_ref tern_pickle_new(tern_pickle *p, tern_pickle_type type, uint32_t length,
                                uint32_t words);
tern_pickle_ref tern_pickle_new_int(tern_pickle *p, int64_t value);
tern_pickle_ref tern_pickle_new_double(tern_pickle *p, double value);
// A TEXT or BYTES of the next bytes of the source.
tern_pickle_ref tern_pickle_read_text(tern_pickle *p, tern_pickle_type type, uint32_t length);
tern_pickle_ref tern_pickle_new_text(tern_pickle *p, tern_pickle_type type, const char *text,
                                     size_t length);
// The BYTES that a TEXT is in Latin-1; without an error pending where it is not.
tern_pickle_ref tern_pickle_new_latin1(tern_pickle *p, tern_pickle_ref text);
// A value that cannot be read, with what it is: "a complex number".
tern_pickle_ref tern_pickle_unreadable(tern_pickle *p, const char *what);
tern_pickle_ref tern_pickle_new_tuple(tern_pickle *p, const tern_pickle_ref *items, uint32_t count);
tern_pickle_ref tern_pickle_new_container(tern_pickle *p, tern_pickle_type type);
// The `_metadata` of an OrderedDict.
void tern_pickle_set_metadata(tern_pickle *p, tern_pickle_ref dict, tern_pickle_ref metadata);
// Appends to a list, or pairs of key and value to a dictionary.
tern_status tern_pickle_extend(tern_pickle *p, tern_pickle_ref container,
                               const tern_pickle_ref *items, uint32_t count);

tern_status tern_pickle_memo_set(tern_pickle *p, uint32_t index, tern_pickle_ref ref);
tern_pickle_ref tern_pickle_memo_get(tern_pickle *p, uint32_t index);

void tern_pickle_put64(tern_pickle *p, uint32_t at, uint64_t value);
uint64_t tern_pickle_get64(const tern_pickle *p, uint32_t at);

// The next byte; raises where there is none.
tern_status tern_pickle_byte(tern_pickle *p, unsigned char *byte);
// The next `count` <= 8 bytes as an integer, little-endian.
tern_status tern_pickle_integer(tern_pickle *p, int count, uint64_t *value);

// What GLOBAL, REDUCE, BUILD and BINPERSID make of their operands.
tern_pickle_ref tern_pickle_find_global(tern_pickle *p, const char *module, const char *name);
tern_pickle_ref tern_pickle_reduce(tern_pickle *p, tern_pickle_ref callable, tern_pickle_ref args);
tern_pickle_ref tern_pickle_make_tensor(tern_pickle *p, tern_pickle_ref args,
                                        tern_pickle_global function);
tern_status tern_pickle_build(tern_pickle *p, tern_pickle_ref object, tern_pickle_ref state);
tern_pickle_ref tern_pickle_persistent(tern_pickle *p, tern_pickle_ref id);

#endif
