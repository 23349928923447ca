#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guides that add something lead to one: their patches in additions/ are applied to a copy of
# the library, which is built as fast as can be (plain kernels, not optimized), and their programs
# run with what was added.
. "$(dirname "$0")/../build/common.sh"

here=$TERN_SOURCE/tests/docs/additions
command -v patch >/dev/null || skip "there is no patch"
mkdir -p "$work/subprojects/tern"
(cd "$TERN_SOURCE" && cp -R meson.build meson_options.txt include src "$work/subprojects/tern/")
for patch in "$here"/*.patch; do
    patch -d "$work/subprojects/tern" -p0 -s --no-backup-if-mismatch <"$patch" ||
        fail "${patch##*/} does not apply"
done

cat >"$work/meson.build" <<END
project('additions', 'c', default_options: ['c_std=c11', 'warning_level=3', 'werror=true'])
tern = dependency('tern', fallback: 'tern')
kinds = run_command('sh', '-c', 'cd $here && ls *.c', check: true).stdout().split()
foreach kind : kinds
  test(kind, executable(kind.substring(0, -2), '$here' / kind, dependencies: tern))
endforeach
END
plain_build -Dtern:cuda=disabled
meson test -C "$work/b" --no-rebuild >"$work/log" 2>&1 || { cat "$work/log"; fail "a program"; }

# The kernel for CUDA devices is C++ to the simulated device.
if [ -n "$CXX" ]; then
    cd "$work/subprojects/tern"
    sed "s|@FILE@|$PWD/src/cuda/index/flip.cu|" "$TERN_SOURCE/tests/simcuda/wrap.cpp.in" >flip.cpp
    $CXX -std=gnu++17 -fsyntax-only -DTERN_CUDA_SIM -isystem "$TERN_SOURCE/tests/simcuda/include" \
        -I include -I src flip.cpp || fail "flip.cu"
fi

for program in "$here"/*.c; do
    kind=$(basename "$program" .c)
    files=$(grep -c '^+++ ' "$here/$kind.patch") || fail "there is no $kind.patch"
    grep -q "additions/$kind.patch) | $files |" "$TERN_SOURCE/docs/adding-to-tern.md" ||
        fail "docs/adding-to-tern.md does not say that $kind.patch touches $files files"
done
