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

# quietly COMMAND...: what it says is shown where it fails, whole, and not otherwise.
quietly()
{
    said=$(mktemp)
    status=0
    "$@" >"$said" 2>&1 || status=$?
    [ $status = 0 ] || cat "$said" >&2
    rm -f "$said"
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
    libpng-dev) pkg-config --exists libpng 2>/dev/null ;;
    libjpeg-dev) pkg-config --exists libjpeg 2>/dev/null ;; # Debian's and Ubuntu's libjpeg-turbo
    libcmocka-dev) pkg-config --exists cmocka 2>/dev/null ;;
    gcc-aarch64-linux-gnu) command -v aarch64-linux-gnu-gcc >/dev/null ;;
    libc6-dev-arm64-cross) [ -f /usr/aarch64-linux-gnu/include/stdio.h ] ;;
    qemu-user) command -v qemu-aarch64 >/dev/null ;;
    zlib1g-dev:arm64) [ -e /usr/lib/aarch64-linux-gnu/libz.so ] ;;
    libcmocka-dev:arm64) [ -e /usr/lib/aarch64-linux-gnu/libcmocka.so ] ;;
    clang) command -v clang >/dev/null ;;
    libclang-rt-dev) (CC='clang -fsanitize=address' && compiles c '') ;;
    dpkg-dev) command -v dpkg-buildpackage >/dev/null ;;
    debhelper) command -v dh >/dev/null ;;
    xz-utils) command -v xz >/dev/null ;;
    debian-archive-keyring) [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] ;;
    valgrind | doxygen | gcovr | clang-format | cmake | git | lintian | mmdebstrap | \
        chromium)
        command -v "$1" >/dev/null ;;
    libdw1) PATH=$PATH:/sbin ldconfig -p | grep -q libdw.so.1 ;;
    libopenblas0-pthread) PATH=$PATH:/sbin ldconfig -p | grep -q libopenblas.so.0 ;;
    python3-torch) /usr/bin/python3 -c "import torch" 2>/dev/null ;;
    libjs-mathjax) [ -f /usr/share/javascript/mathjax/MathJax.js ] ;;
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
        quietly as_root apt-get update -qq ||
            say "apt-get update failed; trying with the old lists"
        # shellcheck disable=SC2086 # one word a package
        quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
            --no-install-recommends $wanted || true
        wanted=$(missing "$@")
    fi
    [ -z "$wanted" ] || { say "missing, by their Debian names:$wanted${CC:+; CC is $CC}"; exit 2; }
}

# configure DIRECTORY OPTION...: sets up a build directory, or brings one up to date. Options that
# fail are not kept.
configure()
{
    dir=$1
    shift
    if [ -f "$dir/build.ninja" ]; then
        meson setup --reconfigure "$dir" "$root" "$@" >&2
    else
        # Without dpkg-dev Meson takes lib64 on Debian, where neither loader nor pkg-config looks.
        [ ! -f /etc/debian_version ] || command -v dpkg-architecture >/dev/null ||
            set -- --libdir=lib "$@"
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
    modules='numpy, pandas, safetensors, schedulefree, tensorboard, torch, torchmetrics'
    [ -x "$python" ] && "$python" -c "import $modules, torchvision" 2>/dev/null && return
    need python3 python3-venv
    say "making $venv"
    python3 -m venv "$venv"
    "$python" -m pip install --quiet torch==2.15.0 torchvision==0.29.2 pillow==13.0.0 \
        numpy==2.4.6 pandas==3.1.1 safetensors==0.8.0 schedulefree==1.4.1 torchmetrics==1.9.0 \
        tensorboard==2.21.0
}

# Sets `sphinx` to the Python of a virtual environment with what makes the site: of TERN_SITE_VENV,
# or tern/site-venv in $XDG_CACHE_HOME or ~/.cache; made where there is none. Fails where it cannot.
make_site_venv()
{
    venv=${TERN_SITE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/tern/site-venv}
    sphinx=$venv/bin/python
    [ -x "$sphinx" ] && "$sphinx" -c 'import furo, myst_parser, sphinx' 2>/dev/null && return
    (need python3 python3-venv) || return 1
    say "making $venv"
    python3 -m venv "$venv" && "$sphinx" -m pip install --quiet sphinx==9.0.4 furo==2025.12.19 \
        myst-parser==5.2.0 >&2
}

# ---- building with one line of progress ---------------------------------------------------------

# The line that shows how something goes: drawn anew in place where stderr is a terminal.
draw()
{
    width=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
    [ "${width:-0}" -gt 20 ] || width=80
    width=$((width - 1))
    printf "\\r%-$width.${width}s" "tern: $*" >&2
}

# Ends that line, with nothing in it.
undraw()
{
    [ ! -t 2 ] || { draw && printf '\r      \r' >&2; }
}

# duration SECONDS
duration()
{
    if [ "$1" -lt 60 ]; then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi
}

# progress DONE TOTAL SECONDS: of steps, and since the first. Elsewhere than on a terminal it is a
# line for each quarter.
progress()
{
    words="building, $(($1 * 100 / $2)) %"
    # The first steps say little about the others.
    [ "$3" -lt 2 ] || [ "$1" = "$2" ] ||
        words="$words, about $(duration $((($3 * ($2 - $1) + $1 - 1) / $1))) left"
    if [ -t 2 ]; then
        draw "$words"
    elif [ $(($1 * 4 / $2)) -gt "$quarter" ]; then
        quarter=$(($1 * 4 / $2))
        [ $quarter = 4 ] || say "$words"
    fi
}

# Reads ninja's output: shows the steps as progress, keeps the rest in the file $log. Fails after a
# line "@failed".
follow_ninja()
{
    quarter=0
    seconds=0
    steps=0
    set -f
    while IFS= read -r line; do
        case $line in
        '@step '*)
            # shellcheck disable=SC2086 # words
            set -- $line
            steps=$3 seconds=${4%.*}
            progress "$2" "$3" "$seconds"
            ;;
        @failed) undraw && return 1 ;;
        *) printf '%s\n' "$line" >>"$log" ;;
        esac
    done
    [ "$steps" = 0 ] || { undraw && say "built in $(duration "$seconds")"; }
}

# build_quietly TARGET...: in $build, with one line of progress. Where that fails, shows all that
# was said.
build_quietly()
{
    log=$build/build-log.txt
    : >"$log"
    { NINJA_STATUS='@step %f %t %e ' ninja -C "$build" "$@" 2>&1 || echo @failed; } |
        follow_ninja || { cat "$log" >&2 && exit 1; }
}

# setup_quietly OPTION...: of $build, likewise.
setup_quietly()
{
    if [ -t 2 ]; then draw "setting up the build"; fi
    quietly configure "$build" "$@" || { say "meson fails" && exit 1; }
    undraw
}

# ---- the examples -------------------------------------------------------------------------------

has_driver()
{
    { command -v nvidia-smi || PATH=$PATH:/sbin ldconfig -p | grep 'libcuda\.so\.1'; } >/dev/null
}

# Sets `plugin` to the target of the CUDA backend, where it is to be built: that takes minutes, and
# only a driver runs it. With $cuda not empty it has to be.
choose_plugin()
{
    plugin=src/cuda/libtern-cuda.so
    ninja -C "$build" -t query "$plugin" >/dev/null 2>&1 && buildable=yes || buildable=
    if [ -z "$cuda" ] && ! has_driver; then
        plugin=
    elif [ -z "$buildable" ]; then
        plugin=
        say "there is a GPU's driver but no CUDA backend (--cuda says why): this trains on the CPU"
    fi
}

# train_example NAME OPTION...: builds the example, and runs it in place of the shell. The option
# --cuda is the script's: it builds the CUDA backend, driver or not.
train_example()
{
    name=$1
    cuda=
    for word in "$@"; do
        shift
        case $word in
        --cuda) cuda=yes ;;
        *) set -- "$@" "$word" ;;
        esac
    done
    shift
    need gcc libc6-dev meson ninja-build pkg-config zlib1g-dev dataset-fashion-mnist
    setup_quietly -Dexamples=enabled ${cuda:+-Dcuda=enabled}
    choose_plugin
    # shellcheck disable=SC2086 # a word or none
    build_quietly "examples/$name/$name" $plugin
    exec "$build/examples/$name/$name" "$@"
}
