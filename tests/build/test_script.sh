#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/test.sh in and with folders whose names have blanks, with compilers that are called by
# more than one word, and where clang is the only one. Stubs take the place of Meson and Ninja.
# shellcheck disable=SC2016,SC2086,SC2154
. "$(dirname "$0")/common.sh"
[ -d /usr/share/datasets/fashion-mnist ] || skip "the data set is not installed"
[ -n "$CXX" ] || skip "no C++ compiler"
command -v pkg-config >/dev/null || skip "no pkg-config"
bin=$work/bin
tree="$work/a tree"
export TERN_BUILD="$work/a  build" LC_ALL=C
mkdir "$bin" "$tree"
cp -R "$TERN_SOURCE/scripts" "$tree"

# No apt-get and no sudo among them: nothing is installed.
for tool in basename cat date dirname env grep id mkdir mktemp rm tr uname pkg-config; do
    file=$(command -v "$tool") && ln -s "$file" "$bin/$tool"
done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$bin/python3"

# script NAME LINE...
script()
{
    file=$bin/$1
    shift
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
    chmod +x "$file"
}

script ninja ':'
# meson setup DIRECTORY ...; meson test -C DIRECTORY --no-rebuild --print-errorlogs -t 5 --logbase
# NAME ...
script meson 'echo "$*; CC is $CC" >>"$TERN_BUILD.calls"' 'case $1 in' \
    'setup) mkdir -p "$2" && : >"$2/build.ninja" ;;' \
    'test) mkdir -p "$3/meson-logs" && echo "{\"result\": \"OK\"}" >"$3/meson-logs/$9.json" ;;' \
    'esac'

# counts NAMES WORD...: with these words of env the script ends well, and counts the logs of builds
# with these names.
counts()
{
    names=$1
    shift
    rm -rf "$TERN_BUILD"*
    env "$@" PATH="$bin" "$tree/scripts/test.sh" $options >"$work/out" 2>"$work/log" ||
        { cat "$work/log" "$work/out"; fail "$*: the script fails"; }
    counted=$(sed -n 's/^\(.*\): 1 passed, 0 failed, 0 skipped$/\1/p' "$work/out" | tr '\n' ' ')
    [ "$counted" = "$names " ] || { cat "$work/out"; fail "$*: not $names"; }
}

# called NAME COMMAND: a compiler of that name.
called()
{
    script "$1" 'case $* in --version) echo "${0##*/}" && exit ;; esac' \
        "PATH='$PATH' exec $2 \"\$@\""
}

called some-cc "$CC"
called some-c++ "$CXX"
options='--plain --suite unit'
counts plain CC='env some-cc -O0' CXX='env some-c++ -O0'
grep -q '^test -C .* --suite unit; CC is env some-cc -O0$' "$TERN_BUILD.calls" ||
    fail "Meson is not called as it should be"
if env PATH="$bin" CC=no-such-cc CXX=some-c++ "$tree/scripts/test.sh" --plain 2>"$work/log"; then
    fail "there was no compiler, but the exit status is 0"
fi
grep -q '^tern: missing, .* gcc .*; CC is no-such-cc$' "$work/log" || fail "$(cat "$work/log")"

called clang "$CC"
called clang++ "$CXX"
counts plain -u CC -u CXX

echo 'int main(void) { return 0; }' >"$work/empty.c"
$CC -fsanitize=address -o "$work/empty" "$work/empty.c" 2>/dev/null || exit 0
script doxygen ':'
script clang-format ':'
script cmake ':'
script valgrind ':'
options=--sanitizers
counts 'plain clang-address-undefined clang-thread' -u CC -u CXX
called gcc "$CC"
counts 'plain gcc-address-undefined clang-thread' -u CC -u CXX
