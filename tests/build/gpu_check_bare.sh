#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_check_bare.sh TOOLKIT SIMULATED_PLUGIN: scripts/gpu_check.sh in a Debian with a compiler,
# Python, Meson, Ninja and the CUDA toolkit, and without pkg-config, git, ccache and the headers of
# zlib and cmocka. With a stub for the driver every part runs to its end; the carried programs
# pass on the simulated device; and where they are missing they are built.
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/common.sh"
toolkit=$1
simulated=$(realpath "$2")
bare=$work/bare
cache=$TERN_BUILD/bare-packages.tar # a second run needs no network
[ -n "${TERN_TEST_LONG:-}" ] || skip "it takes minutes; TERN_TEST_LONG=1 runs it"
[ "$(id -u)" = 0 ] || skip "a chroot takes root"
command -v debootstrap >/dev/null || skip "no debootstrap"
unshare --mount true 2>/dev/null || skip "mounts are not allowed"

# debian OPTION...: from where apt has its packages.
debian()
{
    from=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' \
        2>/dev/null | grep -v -e security -e updates | head -n 1)
    # shellcheck disable=SC2086 # the name and the place
    debootstrap --variant=minbase --include=gcc,g++,libc6-dev,python3,meson,ninja-build "$@" \
        ${from%% *} "$bare" ${from#* } >"$work/log" 2>&1
}

if [ ! -e "$cache" ]; then
    debian --make-tarball="$cache" || skip "debootstrap: $(tail -n 1 "$work/log")"
    rm -rf "$bare"
fi
debian --unpack-tarball="$cache" || skip "debootstrap: $(tail -n 1 "$work/log")"
for tool in pkg-config git ccache; do
    [ ! -e "$bare/usr/bin/$tool" ] || fail "$tool is there"
done

env -u CC -u CXX -u LD_LIBRARY_PATH TERN_BUILD="$TERN_BUILD/bare-build" TERN_GPU_ARCH=90 \
    TERN_PACK="$bare/tern/build-gpu-pack" "$TERN_SOURCE/scripts/gpu_pack.sh" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log"; fail "gpu_pack.sh"; }
git -C "$TERN_SOURCE" ls-files -z | (cd "$TERN_SOURCE" && tar --null -T - -cf -) |
    tar -C "$bare/tern" -xf -
mkdir -p "$bare/usr/local/cuda"

cat >"$bare/usr/local/bin/nvidia-smi" <<'END'
#!/bin/sh
case $* in *compute_cap*) echo "Stub, 580.1, 9.0" ;; esac
END
chmod +x "$bare/usr/local/bin/nvidia-smi"
echo 'int cuInit(unsigned flags) { return flags ? 1 : 100; }' |
    $CC -shared -fPIC -x c -o "$bare/usr/lib/libcuda.so.1" -

# check WORD...: in $status how it ended.
check()
{
    rm -rf "$bare/tern/build-gpu-report"
    status=0
    unshare --mount sh -c 'mount --bind "$1" "$2/usr/local/cuda" && mount -t proc proc "$2/proc" &&
        shift && exec chroot "$@"' sh "$toolkit" "$bare" /usr/bin/env -i HOME=/root \
        TERN_SIM_DEVICES=1 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/cuda/bin \
        /tern/scripts/gpu_check.sh "$@" >"$work/log" 2>&1 || status=$?
}

# says PATTERN
says()
{
    grep -q "$1" "$bare/tern/build-gpu-report/report.txt" ||
        { tail -n 50 "$work/log"; fail "the report does not say: $1"; }
}

# part NUMBER STEP...: each of the steps came to its end, although there is no device.
part()
{
    check "$1"
    [ "$status" = 1 ] || { tail -n 50 "$work/log"; fail "part $1 ended with $status"; }
    shift
    says '^programs: carried'
    for step in "$@"; do
        says "^$step,"
    done
}

part 1 'machine: passed' 'start: FAILED' 'suite: FAILED' 'facts: FAILED' 'floor: FAILED' \
    'bench: FAILED'
says '^  FAIL .* R23_cuda_devices_give_what_the_cpu_gives$'
says '^  0 passed, [0-9]* failed, 0 skipped$'
part 2 'memcheck: skipped' 'racecheck: skipped' 'products: FAILED' 'epilogues: FAILED'
part 3 'mnist: FAILED' 'peers: FAILED' 'tf32: FAILED'

mkdir "$work/programs"
tar -C "$work/programs" -xJf "$bare/tern/build-gpu-pack/programs.tar.xz"
cp "$simulated" "$work/programs/src/cuda/libtern-cuda.so"
tar -C "$work/programs" -cJf "$bare/tern/build-gpu-pack/programs.tar.xz" .
sed -i '/rules_/d' "$bare/tern/build-gpu-pack/tests" # of the toolkit's own libraries
check suite
says '^programs: carried'
says '^  OK .* R23_cuda_devices_give_what_the_cpu_gives$'
says '^  OK .* conformance-cuda-8-of-8$'
says '^suite: passed'

rm "$bare/tern/build-gpu-pack/programs.tar.xz"
check machine
says '^no carried programs'
says '^programs: built here'
says '^machine: passed'
