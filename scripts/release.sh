#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a release: sets the version, runs every suite, builds archive and packages, commits and
# tags, and prints what to push. All of it happens in a clone, so that this tree changes last, and
# not at all where a step fails.
# Usage: scripts/release.sh [--dry-run] VERSION
#   --dry-run   stops before this tree changes: there is no commit and no tag
#   VERSION     1.2.3; CHANGELOG.md needs a section [1.2.3], which becomes the release notes
# Environment: TERN_BUILD, the folder to build in (build).
. "$(dirname "$0")/common.sh"

refuse()
{
    say "$*"
    exit 1
}

dry=
if [ "${1:-}" = --dry-run ]; then
    dry=1
    shift
fi
[ $# = 1 ] || { say "usage: scripts/release.sh [--dry-run] VERSION"; exit 2; }
version=$1
tag=v$version
work=$build/release
clone=$work/tern
out=$build/packages

# What is asked for, before anything takes time.
may_begin()
{
    [ -z "$(git -C "$root" status --porcelain)" ] || refuse "there are changes: commit them first"
    branch=$(git -C "$root" symbolic-ref --short HEAD) || refuse "this is no branch"
    ! git -C "$root" rev-parse --quiet --verify "refs/tags/$tag" >/dev/null ||
        refuse "there is a tag $tag"
    rm -rf "$work"
    mkdir -p "$work"
    python3 "$root/scripts/versions.py" notes "$root" "$version" >"$work/notes" ||
        refuse "$(cat "$work/notes")"
}

# A clone with the versions of the release, committed by who commits here.
set_versions()
{
    git clone --quiet --shared --branch "$branch" "$root" "$clone"
    for key in user.name user.email; do
        ! value=$(git -C "$root" config "$key") || git -C "$clone" config "$key" "$value"
    done
    python3 "$clone/scripts/versions.py" set "$clone" "$version" "$(date -u +%Y-%m-%d)"
    python3 "$clone/scripts/versions.py" check "$clone" >&2 || refuse "the versions differ"
    git -C "$clone" diff --quiet || git -C "$clone" commit --quiet --all \
        --message "release: version $version"
}

take_over()
{
    git -C "$root" fetch --quiet "$clone" HEAD
    git -C "$root" merge --quiet --ff-only FETCH_HEAD
    git -C "$root" tag --annotate --cleanup=whitespace --file "$work/notes" "$tag"
}

need git python3
may_begin
set_versions
TERN_BUILD=$work/build "$clone/scripts/test.sh" --sanitizers || refuse "a test fails"
TERN_BUILD=$work/build "$clone/scripts/package.sh" "$out" || refuse "the packages do not build"
cp "$work/notes" "$out/NOTES.md"
if [ -n "$dry" ]; then
    say "dry run: $tag was not made"
else
    take_over
fi
rm -rf "$work"
say "archive, packages, checksums and notes of the release: $out"
[ -n "$dry" ] || echo "git push origin $branch $tag"
