#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tries the packages of scripts/package.sh in bare systems of Debian 12 and 13: installs them, runs
# debian/tests/consumers, which builds programs with them, purges them, and compares the lists of
# files before and after. Takes minutes, root or sudo, and the network.
# Usage: scripts/package_try.sh [FOLDER [SUITE...]]
#   FOLDER      with the packages; build/packages
#   SUITE       of Debian; bookworm trixie
# Environment: TERN_CHROOTS, a folder where the bare systems are kept as SUITE.tar for a next time;
# TMPDIR, where they are unpacked (/tmp), removed afterwards.
#
# Where the packages do not install, because they were built on a newer system, they are built there
# from the source package.
. "$(dirname "$0")/common.sh"

packages=${1:-$build/packages}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- bookworm trixie
ls "$packages"/libtern-dev_*.deb >/dev/null
work=$(mktemp -d "${TMPDIR:-/tmp}/tern-try-XXXXXX")
trap 'as_root rm -rf --one-file-system "$work"' EXIT
kept=${TERN_CHROOTS:-$work}

# bare SUITE: a system with compilers, as $kept/SUITE.tar.
bare()
{
    [ ! -f "$kept/$1.tar" ] || return 0
    say "making a bare system of $1"
    as_root mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists \
        --include=ca-certificates,cmake,gcc,libc6-dev,make,meson,pkg-config \
        "$1" "$work/bare.tar" http://deb.debian.org/debian >&2
    as_root mv "$work/bare.tar" "$kept/$1.tar"
}

# inside COMMAND...: runs it there, with mounts that end with it.
# shellcheck disable=SC2016 # that shell's
inside()
{
    as_root unshare --mount sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" /usr/bin/env -u CC -u CXX -u TMPDIR HOME=/root LC_ALL=C.UTF-8 \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' "$chroot" "$@"
}

# Every file there but what apt and dpkg keep for themselves, sorted.
files()
{
    as_root find "$chroot" -xdev \( -path "$chroot/tern" -o -path "$chroot/var/lib/apt" \
        -o -path "$chroot/var/lib/dpkg" -o -path "$chroot/var/cache" -o -path "$chroot/var/log" \
        -o -path "$chroot/proc" -o -path "$chroot/dev" \) -prune -o -print | LC_ALL=C sort
}

# What the tests need of the source, the data and the packages, in /tern.
furnish()
{
    as_root mkdir -p "$chroot/tern/tests" "$chroot/usr/share/datasets"
    as_root cp -L /etc/resolv.conf "$chroot/etc/resolv.conf"
    as_root cp -r "$root/debian" "$root/examples" "$chroot/tern"
    as_root cp -r "$root/tests/examples" "$chroot/tern/tests"
    as_root cp -r /usr/share/datasets/fashion-mnist "$chroot/usr/share/datasets"
    as_root cp -r "$packages" "$chroot/tern/packages"
}

install_packages()
{
    inside sh -c 'cd /tern/packages && rm -f ./*-dbgsym_*.deb &&
        apt-get install -y -qq --no-install-recommends ./*.deb' >"$work/log" 2>&1
}

# The packages anew, of the source package.
rebuild()
{
    say "they do not install there: building them there"
    inside sh -c 'cd /tern/packages && rm ./*.deb &&
        apt-get install -y -qq --no-install-recommends dpkg-dev build-essential &&
        dpkg-source -x ./*.dsc tree && cd tree && export DEB_BUILD_OPTIONS=nocheck &&
        apt-get build-dep -y -qq --no-install-recommends -P nocheck ./ &&
        dpkg-buildpackage -b -us -uc -Pnocheck' >"$work/log" 2>&1
}

failed()
{
    cat "$work/log" >&2
    say "$suite: $*"
    exit 1
}

# shellcheck disable=SC2016 # that shell's
purge_packages()
{
    inside sh -c 'cd /tern/packages && apt-get purge -y -qq --auto-remove \
        $(for deb in ./*.deb; do dpkg-deb -f "$deb" Package; done)' >"$work/log" 2>&1
}

# try SUITE
try()
{
    suite=$1
    chroot=$work/$suite
    bare "$suite"
    mkdir "$chroot"
    as_root tar -C "$chroot" -xf "$kept/$suite.tar"
    furnish
    files >"$work/before"
    if ! install_packages; then
        rebuild || failed "the packages neither install nor build"
        files >"$work/before"
        install_packages || failed "the packages do not install"
    fi
    files >"$work/with"
    inside sh -c 'cd /tern && debian/tests/consumers' || failed "the programs fail"
    purge_packages || failed "the packages cannot be purged"
    files >"$work/after"
    LC_ALL=C comm -13 "$work/before" "$work/after" >"$work/left"
    [ ! -s "$work/left" ] || { cp "$work/left" "$work/log"; failed "these files are left"; }
    echo "$suite: $(LC_ALL=C comm -13 "$work/before" "$work/with" | wc -l) files and folders" \
        "came, none is left"
    as_root rm -rf --one-file-system "$chroot"
}

need mmdebstrap debian-archive-keyring dataset-fashion-mnist
for suite in "$@"; do
    try "$suite"
done
