// SPDX-License-Identifier: Apache-2.0
// Every shape that a guard sends to a table of micro-kernels finds an entry there, for each
// instruction set and element type that is built.
#include "cpu/backend.h"

#include "support/check.h"
#include "micro_kernels.h"

int64_t micro_kernels_seen;

static const struct {
    const char *isa;
    micro_kernels_hole *find[4];
} sets[] = {
#define SET(isa)                                                                                   \
    {                                                                                              \
#isa,                                                                                      \
        {                                                                                          \
            MICRO_NAME(conv, isa, float), MICRO_NAME(conv, isa, double),                           \
                MICRO_NAME(product, isa, float), MICRO_NAME(product, isa, double)                  \
        }                                                                                          \
    }
    MICRO_SETS(SET)};

static void tables_of_micro_kernels_have_no_holes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (!tern_cpu_kernel_table_for(sets[i].isa))
            continue;
        for (int kind = 0; kind < 4; kind++) {
            micro_kernels_seen = 0;
            const char *hole = sets[i].find[kind]();
            if (hole)
                fail_msg("%s, %s, %s: nothing at %s", sets[i].isa, kind < 2 ? "conv" : "product",
                         kind % 2 ? "float64" : "float32", hole);
            assert_true(micro_kernels_seen > 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_micro_kernels_have_no_holes),
    };
    return cmocka_run_group_tests_name("micro-kernels", tests, NULL, NULL);
}
