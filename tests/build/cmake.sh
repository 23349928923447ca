#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cmake.sh TARGET: a CMake project finds the installed library, wherever it was moved to, by a
# version that it stands for, builds with that target of it, and runs.
. "$(dirname "$0")/common.sh"
command -v cmake >/dev/null || skip "no cmake"
install_tern
CMAKE_PREFIX_PATH=$work/moved$(pkg-config --variable=prefix tern | sed "s|^$root||")
mv "$root" "$work/moved"
libdir=$work/moved${libdir#"$root"}
export CMAKE_PREFIX_PATH
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$TERN_SOURCE/meson.build" | head -n 1)
abi=${version%.*} # until 1.0

mkdir "$work/versions"
cat >"$work/versions/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(versions NONE)
find_package(tern ${WANTED} QUIET)
message(STATUS "found: ${tern_FOUND} ${tern_VERSION}")
END
for wanted in '' "$abi" "$version" "$abi.99" 0.0 99 "${abi}9" "1$abi"; do
    case $wanted in
    '' | "$abi" | "$version") found="1 $version" ;;
    *) found=0 ;;
    esac
    rm -rf "$work/b"
    cmake -S "$work/versions" -B "$work/b" "-DWANTED=$wanted" \
        "-Dtern_DIR=$libdir/cmake/tern" >"$work/log" 2>&1
    grep -q "found: $found" "$work/log" || { cat "$work/log"; fail "'$wanted': not $found"; }
done

[ "$1" = tern::tern ] || rm "$libdir"/libtern.so*
cp "$TERN_SOURCE/tests/build/consumer.c" "$work/"
cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(tern $abi REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer $1)
END
rm -rf "$work/b"
# shellcheck disable=SC2086
CC=$CC CFLAGS="$TERN_FLAGS" cmake -S "$work" -B "$work/b" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "cmake"; }
cmake --build "$work/b" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake --build"; }
unset LD_LIBRARY_PATH
"$work/b/consumer"
