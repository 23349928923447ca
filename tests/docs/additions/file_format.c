// SPDX-License-Identifier: Apache-2.0
// An image of 2 x 1 pixels; one that ends too early is refused.
#include "check.h"

static tern_state *read(const char *pixels, size_t nbytes)
{
    FILE *file = fopen("image.pgm", "wb");
    if (!file)
        return NULL;
    fputs("P5 2 1 255\n", file);
    fwrite(pixels, 1, nbytes, file);
    return fclose(file) ? NULL : tern_state_read("image.pgm");
}

int main(void)
{
    tern_state *state = read("\x07\x09", 2);
    if (!state)
        return tern_error_print(stderr);
    tern_tensor *image = tern_state_tensor(state, "image");
    const int wrong = differs("rows", (double)tern_size(image, 0), 1) +
                      differs("pixel", tern_item(tern_select(tern_select(image, 0, 0), 0, 1)), 9) +
                      (read("\x07", 1) != NULL) +
                      differs("code", tern_error_code(), TERN_ERR_FORMAT);
    tern_error_print(stdout);
    tern_state_free(state);
    return wrong;
}
