# SPDX-License-Identifier: Apache-2.0
# The part of test.sh that takes hours; it runs in there.
# shellcheck shell=sh disable=SC2154,SC2034

# valgrind knows neither AVX-512 nor the flags of floating-point exceptions, for which the suite
# `errors` looks; memory and pool start themselves again, and there that is valgrind. Caches would
# hide leaks from it.
(
    export TERN_CPU_ISA=avx2 TERN_CACHE=0
    wrapper='valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite'
    # shellcheck disable=SC2046 # one word a test
    meson test -C "$build" --no-rebuild --print-errorlogs --logbase valgrind --wrapper "$wrapper" \
        -t 40 $(meson test -C "$build" --list --suite unit 2>/dev/null | sed -n 's|.* / ||p' |
            grep -vxE 'memory|pool') >&2
) || status=1
logs=$logs$build/meson-logs/valgrind.json$newline

# Ten seeds get 88 % of the test images right.
for seed in 0 1 2 3 4 5 6 7 8 9; do
    result=$("$build/examples/mlp_mnist/mlp_mnist" --quiet --seed "$seed") || status=1
    say "seed $seed: $result"
    echo "$result" | awk -F '[= ]' '$2 >= 0.88 { good = 1 } END { exit !good }' ||
        { say "seed $seed: less than 0.88"; status=1; }
done
