#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes what a release hands out: the source archive, Debian packages that are built from it, and
# their SHA-256 checksums. The packages are libtern0.1, libtern-dev, tern-tools, tern-doc, and
# libtern-cuda where the CUDA toolkit is found.
# Usage: scripts/package.sh [--no-cuda] [--try] [FOLDER]
#   --no-cuda   leaves the CUDA backend out, whose kernels take minutes
#   --try       then installs them in bare systems: scripts/package_try.sh
#   FOLDER      where to; build/packages. Packages that are there are removed
# Environment: TERN_BUILD, the folder to build in (build); DEB_BUILD_OPTIONS=nocheck does not run
# the tests of the packages.
#
# The archive has what is committed. Building the packages compiles it and runs suites of tests.
. "$(dirname "$0")/common.sh"

cuda=auto
try=
while [ $# -gt 0 ]; do
    case $1 in
    --no-cuda) cuda=disabled ;;
    --try) try=1 ;;
    -*) say "usage: scripts/package.sh [--no-cuda] [--try] [FOLDER]" && exit 2 ;;
    *) break ;;
    esac
    shift
done
out=${1:-$build/packages}
case $out in /*) ;; *) out=$PWD/$out ;; esac
work=$build/package-work

# The folder that this sets up says what there is, and packs it; nothing is built there.
archive()
{
    [ -e "$root/.git" ] || { say "no clone of git: of an archive, dpkg-buildpackage"; exit 1; }
    meson setup "$work/setup" "$root" -Dcuda="$cuda" -Dtests=disabled -Dexamples=disabled >&2
    meson dist -C "$work/setup" --no-tests --formats xztar >&2
    mv "$work"/setup/meson-dist/tern-*.tar.xz "$work/"
    name=$(basename "$work"/tern-*.tar.xz .tar.xz)
    with=
    if meson introspect "$work/setup" --installed | grep -q libtern-cuda; then
        with=", with the CUDA backend"
        export DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:+$DEB_BUILD_PROFILES }pkg.tern.cuda"
    fi
}

# What debian/control asks for. dpkg looks for packages: a Meson from elsewhere is none.
need_to_build()
{
    dpkg-checkbuilddeps 2>/dev/null && return
    say "installing what debian/control asks for"
    as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the old lists"
    as_root env DEBIAN_FRONTEND=noninteractive DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:-}" \
        apt-get build-dep -y -qq --no-install-recommends ./ >&2
}

packages()
{
    tar -C "$work" -xf "$work/$name.tar.xz"
    cp "$work/$name.tar.xz" "$work/$(echo "$name" | tr - _).orig.tar.xz"
    cd "$work/$name"
    need_to_build
    dpkg-buildpackage -us -uc >&2
    cd "$root"
}

# What lintian calls an error is one, but for what an uploader to Debian has to fill in.
look()
{
    say "lintian: $(cd "$work" && lintian --version)"
    lintian --fail-on error --suppress-tags bogus-mail-host,initial-upload-closes-no-bugs \
        "$work"/tern_*.changes >&2
}

hand_out()
{
    mkdir -p "$out"
    rm -f "$out"/tern[-_]* "$out"/libtern* "$out/SHA256SUMS"
    cd "$work"
    mv -- *.tar.* *.deb *.dsc *.buildinfo *.changes "$out"
    cd "$out"
    sha256sum -- *.tar.* *.deb *.dsc >SHA256SUMS
    cd "$root"
}

need gcc libc6-dev g++ git meson ninja-build pkg-config python3 zlib1g-dev libpng-dev libjpeg-dev \
    dpkg-dev debhelper lintian xz-utils
rm -rf "$work"
mkdir -p "$work"
archive
say "building $name$with"
packages
look
hand_out
rm -rf "$work"
say "$out:"
cat "$out/SHA256SUMS"
[ -z "$try" ] || exec "$root/scripts/package_try.sh" "$out"
