#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what scripts/gpu_check.sh runs, for a machine with a GPU that lacks tools to build it, or
# time, and puts it into one folder to be carried there: programs, the libraries that they need
# beside CUDA's, the list of tests, the data set, the commit, and what a build there would need.
# Usage: scripts/gpu_pack.sh
# Environment: TERN_PACK, the folder (build-gpu-pack); TERN_BUILD, the one to build in (build-gpu);
# TERN_GPU_ARCH, the compute capability without the dot (90), PTX of it included; TERN_COMMIT, the
# name of a tree that is not git's.
#
# The programs run where glibc is not older than the one that the folder's file `about` names.
. "$(dirname "$0")/gpu_common.sh"
most=$((56 * 1024 * 1024)) # bytes of the whole
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

need gcc libc6-dev g++ meson ninja-build python3 zlib1g-dev libcmocka-dev dataset-fashion-mnist

# The library, as programs ask for it.
tern()
{
    ldd "$build/examples/mlp_mnist/mlp_mnist" | awk '$1 ~ /^libtern\.so/ { print $1 }'
}

# Debug information stays here: it is most of a program's size.
take_programs()
{
    # shellcheck disable=SC2046,SC2086 # one word a program
    for file in $gpu_plugins $gpu_programs $(cat "$build/gpu-programs") $(tern); do
        mkdir -p "$stage/$(dirname "$file")"
        strip -o "$stage/$file" "$build/$file"
    done
}

# library NAME PROGRAM: the file that the loader takes for a library of the program.
library()
{
    ldd "$build/$2" | awk -v name="$1" '$1 == name { print $3 }'
}

take_libraries()
{
    mkdir -p "$stage/lib"
    cp -L "$(library libz.so.1 "$(tern)")" "$stage/lib/libz.so.1"
    cp -L "$(library libcmocka.so.0 tests/device/test_meeting)" "$stage/lib/libcmocka.so.0"
}

header()
{
    echo "#include <$1>" | cc -M -x c - | tr ' ' '\n' | grep -m 1 "/$1\$"
}

# For a build there. What the linker looks for are the same files, by other names.
take_headers()
{
    mkdir -p "$pack/include"
    cp "$(header zlib.h)" "$(header zconf.h)" "$(header cmocka.h)" "$pack/include"
    cp -r "$stage/lib" "$pack/lib"
    cp "$stage/lib/libz.so.1" "$pack/lib/libz.so"
    cp "$stage/lib/libcmocka.so.0" "$pack/lib/libcmocka.so"
}

glibc()
{
    find "$stage" -type f -exec objdump -T {} + 2>/dev/null | grep -o 'GLIBC_[0-9.]*' |
        sort -Vu | tail -n 1 | tr _ ' '
}

commit()
{
    name=$(git -C "$root" rev-parse --short HEAD 2>/dev/null) || name=${TERN_COMMIT:-unknown}
    if git -C "$root" diff --shortstat HEAD 2>/dev/null | grep -q .; then
        name="$name with changes"
    fi
    echo "$name"
}

arch=${TERN_GPU_ARCH:-90}
build_for "$arch"
take_programs
take_libraries
rm -rf "$pack"
take_headers
tar -C "$stage" -cf - . | xz -T2 -9 >"$pack/programs.tar.xz"
cp "$build/gpu-tests" "$pack/tests"
cp -r /usr/share/datasets/fashion-mnist "$pack/data"
commit >"$pack/commit"
echo "for compute capability $arch, $(glibc) or newer" >"$pack/about"
size=$(du -sb "$pack" | cut -f 1)
say "$pack: $((size / 1024 / 1024)) MiB, commit $(cat "$pack/commit"), $(cat "$pack/about")"
[ "$size" -le "$most" ] || { say "more than $((most / 1024 / 1024)) MiB"; exit 1; }
