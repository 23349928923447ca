#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# scripts/release.sh in a repository of its own, with stubs for what takes long: it refuses what
# it should, a failure and a dry run change nothing, and a release is a commit and a tag with notes.
. "$(dirname "$0")/common.sh"
command -v git >/dev/null || skip "no git"
command -v python3 >/dev/null || skip "no Python"
tree=$work/tern
export TERN_BUILD="$work/a build" GIT_CONFIG_GLOBAL=/dev/null HOME="$work"
mkdir -p "$tree/scripts" "$tree/include/tern"
cd "$tree"
cp "$TERN_SOURCE/scripts/common.sh" "$TERN_SOURCE/scripts/release.sh" \
    "$TERN_SOURCE/scripts/versions.py" scripts/
cp "$TERN_SOURCE/meson.build" "$TERN_SOURCE/CITATION.cff" .
cp "$TERN_SOURCE/include/tern/base.h" include/tern/
cp -R "$TERN_SOURCE/debian" .
printf '#!/bin/sh\n[ ! -f "%s/fails" ]\n' "$work" >scripts/test.sh
# The archive is of what is committed.
# shellcheck disable=SC2016
printf '#!/bin/sh\n%s\n' 'mkdir -p "$1" && cd "$(dirname "$0")/.." || exit 1' \
    'git show HEAD:meson.build | grep "version:" >"$1/packed"' >scripts/package.sh
chmod +x scripts/*.sh
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build | head -n 1)
next=${version%.*}.$((${version##*.} + 1))
cat >CHANGELOG.md <<END
# Changes

## [$next] - not released yet

### Added

- A thing.

## [$version] - 2030-01-31

- Older.
END
git init --quiet --initial-branch=main
git config user.name tern
git config user.email tern@example.org
git add . && git commit --quiet --message begin
begin=$(git rev-parse HEAD)

# refuses WORDS OPTION...: with these options the script ends so, and nothing has changed.
refuses()
{
    words=$1
    shift
    if scripts/release.sh "$@" >"$work/log" 2>&1; then
        fail "$*: the exit status is 0"
    fi
    grep -q "$words" "$work/log" || { cat "$work/log"; fail "$*: does not say: $words"; }
    unchanged
}

unchanged()
{
    [ "$(git rev-parse HEAD)" = "$begin" ] || fail "there is a commit"
    [ -z "$(git tag)" ] || fail "there is a tag"
    git diff --quiet || fail "a file has changed"
}

refuses 'no section \[9.9.9\]' 9.9.9
refuses 'is no version' next
refuses 'usage'
touch more
refuses 'commit them first' "$next"
rm more
touch "$work/fails"
refuses 'a test fails' "$next"
rm "$work/fails"

scripts/release.sh --dry-run "$next" >"$work/said" 2>"$work/log" ||
    { cat "$work/log"; fail "the dry run"; }
unchanged
[ ! -s "$work/said" ] || fail "the dry run says what to push"
grep -q "'$next'" "$TERN_BUILD/packages/packed" || fail "the dry run packs another version"

scripts/release.sh "$next" >"$work/said" 2>"$work/log" || { cat "$work/log"; fail "the release"; }
[ "$(cat "$work/said")" = "git push origin main v$next" ] || fail "says: $(cat "$work/said")"
[ "$(git cat-file -t "v$next")" = tag ] || fail "the tag is not annotated"
[ "$(git rev-parse "v$next^{commit}")" = "$(git rev-parse HEAD)" ] || fail "another commit"
[ "$(git rev-parse HEAD~1)" = "$begin" ] || fail "not one commit"
git cat-file tag "v$next" | grep -q '^### Added$' || fail "the notes are not in the tag"
if git cat-file tag "v$next" | grep -q Older; then fail "older notes are in the tag"; fi
grep -q '^- A thing.$' "$TERN_BUILD/packages/NOTES.md" || fail "no notes beside the packages"
[ -z "$(git status --porcelain)" ] || fail "the tree is not clean: $(git status --porcelain)"
python3 scripts/versions.py check . || fail "the versions differ"
grep -q "^## \[$next\] - 20[0-9-]*$" CHANGELOG.md || fail "CHANGELOG.md has no date"
head -n 1 debian/changelog | grep -q "^tern ($next-1) unstable;" || fail "debian/changelog"
grep -q "^version: $next$" CITATION.cff || fail "CITATION.cff"
for file in CITATION.cff include/tern/base.h debian/changelog meson.build debian/control; do
    sed -i "s/$next/9.9.9/; s/\(VERSION_MINOR \).*/\199/; s/\(libtern\)[0-9.]*$/\19/" "$file"
    if python3 scripts/versions.py check . >"$work/log"; then fail "another version in $file"; fi
    git checkout --quiet "$file"
done
begin=$(git rev-parse HEAD)
if scripts/release.sh "$next" >"$work/log" 2>&1; then fail "released twice"; fi
grep -q "there is a tag" "$work/log" || fail "it does not say that there is a tag"
