#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# After `meson install` to /usr/local as root a program of one's own builds by pkg-config alone and
# starts. What that writes to /usr and /etc is in memory, seen by this test alone.
. "$(dirname "$0")/common.sh"
[ -z "$TERN_FLAGS" ] || skip "the plain build shows it"
grep -q '^prefix=/usr/local$' "$TERN_BUILD/meson-private/tern.pc" || skip "another prefix"
if [ -z "${TERN_PRIVATE_MOUNTS:-}" ]; then
    [ "$(id -u)" = 0 ] || skip "mounts take root"
    unshare --mount true 2>/dev/null || skip "mounts are not allowed"
    TERN_PRIVATE_MOUNTS=1 unshare --mount "$0" || exit $?
    exit 0
fi

trap 'umount -l /usr /etc "$work"; rm -rf "$work"' EXIT
mount -t tmpfs tmpfs "$work" || skip "tmpfs cannot be mounted"
for folder in usr etc; do
    mkdir "$work/$folder" "$work/$folder.work"
    mount -t overlay overlay "/$folder" -o \
        "lowerdir=/$folder,upperdir=$work/$folder,workdir=$work/$folder.work" ||
        skip "an overlay cannot be mounted"
done

starts()
{
    $CC -std=c11 -o "$work/consumer" "$TERN_SOURCE/tests/build/consumer.c" \
        $(pkg-config --cflags --libs tern) && "$work/consumer"
}

unset LD_LIBRARY_PATH PKG_CONFIG_PATH DESTDIR
PATH=$PATH:/usr/sbin:/sbin
find /usr/local/include /usr/local/lib -path '*tern*' -type f -delete
ldconfig
if starts 2>/dev/null; then
    fail "tern is here before it is installed"
fi
meson install -C "$TERN_BUILD" --no-rebuild >"$work/log" 2>&1 ||
    { cat "$work/log"; fail "meson install"; }
starts || fail "the program does not start"
