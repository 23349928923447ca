// SPDX-License-Identifier: Apache-2.0
// States of generators: tern's, whose checksum is made right, and PyTorch's of 5,056 bytes.
#include <stdlib.h>
#include <tern/tern.h>

#include "base/bytes.h"
#include "reader.h"

// FNV-1a, as src/device/generator_state.c says.
static void mend(uint8_t *data, size_t nbytes)
{
    uint64_t hash = 14695981039346656037u;
    const size_t summed = tern_generator_state_size() - 8;
    if (nbytes < summed + 8)
        return;
    for (size_t i = 0; i < summed; i++)
        hash = (hash ^ data[i]) * 1099511628211u;
    put_uint(data + summed, 8, hash);
}

// Whatever state it has, it gives numbers from 0 to 1.
static void draw(tern_generator *generator)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *t = tern_rand(tern_dims(700), .generator = generator);
    must(t || memory_fails(), "no numbers can be drawn");
    for (int i = 0; t && i < 700; i++) {
        const float number = ((const float *)tern_data(t))[i];
        must(number >= 0 && number < 1, "a number out of range");
    }
    tern_error_clear();
    tern_scope_close(scope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static tern_generator *generator;
    if (!generator)
        generator = tern_generator_new(1);
    uint8_t *copy = copy_of(data, nbytes);
    begin_call();
    const bool other = tern_generator_from_torch(generator, copy, nbytes);
    end_call(other, nbytes);
    if (!other)
        draw(generator);
    mend(copy, nbytes);
    begin_call();
    const bool failed = tern_generator_load(generator, copy, nbytes);
    end_call(failed, nbytes);
    if (!failed)
        draw(generator);
    free(copy);
    return 0;
}
