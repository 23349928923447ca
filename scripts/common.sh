# SPDX-License-Identifier: Apache-2.0
# For the scripts beside it: finding the tree, installing what is missing, building.
# shellcheck shell=sh disable=SC2034

set -eu
unset CDPATH # cd would say where it went
root=$(cd "$(dirname "$0")/.." && pwd)
build=${TERN_BUILD:-$root/build}

say()
{
    printf 'tern: %s\n' "$*" >&2
}

# first_of COMMAND...: the first that is here; where none is, the first.
first_of()
{
    for name in "$@"; do
        command -v "$name" >/dev/null && break
        name=$1
    done
    echo "$name"
}

# compiler c|cc: the command, which may come with options, that Meson takes for C or C++.
compiler()
{
    case $1 in
    c) echo "${CC:-$(first_of cc gcc clang)}" ;;
    *) echo "${CXX:-$(first_of c++ g++ clang++)}" ;;
    esac
}

compiles()
{
    dir=$(mktemp -d)
    printf '%s\nint main(void) { return 0; }\n' "$2" >"$dir/t.$1"
    $(compiler "$1") -o "$dir/t" "$dir/t.$1" >/dev/null 2>&1
    status=$?
    rm -rf "$dir"
    return $status
}

# Is what this Debian package gives already here, from wherever?
have()
{
    case $1 in
    gcc) $(compiler c) --version >/dev/null 2>&1 ;;
    libc6-dev) compiles c '#include <stdio.h>' ;;
    g++) compiles cc '#include <cstdio>' ;;
    meson) command -v meson >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    pkg-config) command -v pkg-config >/dev/null ;;
    python3) command -v python3 >/dev/null ;;
    python3-venv) python3 -c "import ensurepip, venv" 2>/dev/null ;;
    zlib1g-dev) compiles c '#include <zlib.h>' ;;
    libcmocka-dev) pkg-config --exists cmocka 2>/dev/null ;;
    clang) command -v clang >/dev/null ;;
    libclang-rt-dev) (CC='clang -fsanitize=address' && compiles c '') ;;
    dpkg-dev) command -v dpkg-buildpackage >/dev/null ;;
    debhelper) command -v dh >/dev/null ;;
    xz-utils) command -v xz >/dev/null ;;
    debian-archive-keyring) [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
    valgrind | doxygen | gcovr | clang-format | cmake | git | lintian | mmdebstrap)
        command -v "$1" >/dev/null ;;
    libdw1) PATH=$PATH:/sbin ldconfig -p | grep -q libdw.so.1 ;;
    libopenblas0-pthread) PATH=$PATH:/sbin ldconfig -p | grep -q libopenblas.so.0 ;;
    python3-torch) /usr/bin/python3 -c "import torch" 2>/dev/null ;;
    dataset-fashion-mnist) [ -d /usr/share/datasets/fashion-mnist ] ;;
    *) false ;;
    esac
}

missing()
{
    for package in "$@"; do
        have "$package" || printf ' %s' "$package"
    done
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs the Debian packages whose contents are not here. Where that cannot be done, says which
# are missing and exits 2.
need()
{
    wanted=$(missing "$@")
    [ -n "$wanted" ] || return 0
    if command -v apt-get >/dev/null && { [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; }; then
        say "installing$wanted"
        as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the old lists"
        # shellcheck disable=SC2086 # one word a package
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            $wanted >&2 || true
        wanted=$(missing "$@")
    fi
    [ -z "$wanted" ] || { say "missing, by their Debian names:$wanted${CC:+; CC is $CC}"; exit 2; }
}

# configure DIRECTORY OPTION...: sets up a build directory, or brings one up to date.
configure()
{
    dir=$1
    shift
    if [ -f "$dir/build.ninja" ]; then
        meson configure "$dir" "$@" >&2
    else
        meson setup "$dir" "$root" "$@" >&2
    fi
}

# Sets `python` to that of a virtual environment with the libraries that tern is compared with: of
# TERN_GOLDEN_VENV, or tern/golden-venv in $XDG_CACHE_HOME or ~/.cache; made where there is none.
# PIP_EXTRA_INDEX_URL may name an index with builds of PyTorch for the CPU alone, which are smaller.
make_reference_venv()
{
    venv=${TERN_GOLDEN_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/tern/golden-venv}
    python=$venv/bin/python
    [ -x "$python" ] && "$python" -c 'import numpy, safetensors, torch, torchvision' \
        2>/dev/null && return
    need python3 python3-venv
    say "making $venv"
    python3 -m venv "$venv"
    "$python" -m pip install --quiet torch==2.15.0 torchvision==0.29.2 numpy==2.4.6 \
        safetensors==0.8.0
}

# train_example NAME OPTION...: builds the example, and runs it in place of the shell.
train_example()
{
    need gcc libc6-dev meson ninja-build pkg-config zlib1g-dev dataset-fashion-mnist
    configure "$build" -Dexamples=enabled
    program=examples/$1/$1
    targets=$program
    # The CUDA backend takes minutes to build: only where there is a driver to run it.
    plugin=src/cuda/libtern-cuda.so
    if { command -v nvidia-smi || PATH=$PATH:/sbin ldconfig -p | grep 'libcuda\.so\.1'; } \
        >/dev/null && ninja -C "$build" -t query "$plugin" >/dev/null 2>&1; then
        targets="$targets $plugin"
    fi
    # shellcheck disable=SC2086 # one word a target
    ninja -C "$build" $targets >&2
    shift
    exec "$build/$program" "$@"
}
