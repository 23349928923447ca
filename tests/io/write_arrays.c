// SPDX-License-Identifier: Apache-2.0
// Writes arrays for another reader: write_arrays FOLDER makes <dtype>.npy of each dtype that numpy
// has, (2, 3) of 0, 1, 0, 1, 0, 1, then a scalar and an empty one, and all of them in arrays.npz.
#include <stdio.h>
#include <tern/tern.h>

static int failed(void)
{
    tern_error_print(stderr);
    return 1;
}

static int add(tern_state *all, const char *folder, const char *name, tern_tensor *t)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    tern_state *one = tern_state_new();
    const bool fails = tern_state_set_tensor(one, "x", t) || tern_state_write(one, path) ||
                       tern_state_set_tensor(all, name, t);
    tern_state_free(one);
    return fails ? failed() : 0;
}

int main(int argc, char **argv)
{
    static const tern_dtype dtypes[] = {TERN_FLOAT16, TERN_FLOAT32, TERN_FLOAT64, TERN_INT32,
                                        TERN_INT64,   TERN_UINT8,   TERN_BOOL};
    static const float values[] = {0, 1, 0, 1, 0, 1};
    char path[1000];
    if (argc != 2)
        return 2;
    tern_scope scope = tern_scope_open();
    tern_state *all = tern_state_new();
    tern_tensor *t = tern_from_data(tern_dims(2, 3), values);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (add(all, argv[1], tern_dtype_name(dtypes[i]), tern_to_dtype(t, dtypes[i])))
            return 1;
    if (add(all, argv[1], "scalar", tern_full(tern_dims(), -2.5)) ||
        add(all, argv[1], "empty", tern_zeros(tern_dims(0, 3))))
        return 1;
    snprintf(path, sizeof path, "%s/arrays.npz", argv[1]);
    if (tern_state_write(all, path))
        return failed();
    tern_state_free(all);
    tern_scope_close(scope);
    return 0;
}
