#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A project that asks for dependency('tern') and has it in subprojects/, by the wrap file of
# docs/getting-started.md, with a repository here, or where there is no git by a copy.
. "$(dirname "$0")/common.sh"

mkdir -p "$work/tern" "$work/subprojects"
(cd "$TERN_SOURCE" && cp -R meson.build meson_options.txt include src "$work/tern/")
guide=$TERN_SOURCE/docs/getting-started.md
if command -v git >/dev/null; then
    export GIT_CONFIG_GLOBAL=/dev/null
    git -C "$work/tern" init --quiet --initial-branch=main
    git -C "$work/tern" add .
    git -C "$work/tern" -c user.name=tern -c user.email= commit --quiet --message tern
    sed -n '/^\[wrap-git\]$/,/^```$/{/^```$/!p}' "$guide" |
        sed "s|^url = .*|url = file://$work/tern|" >"$work/subprojects/tern.wrap"
    grep -q '^url = file' "$work/subprojects/tern.wrap" || fail "the guide shows no wrap file"
else
    echo 'the wrap file was left out: there is no git'
    mv "$work/tern" "$work/subprojects/tern"
fi
cp "$TERN_SOURCE/tests/build/consumer.c" "$work/"
cat >"$work/meson.build" <<'END'
project('consumer', 'c', default_options: ['c_std=c11', 'warning_level=3', 'werror=true'])
tern = dependency('tern', fallback: 'tern')
test('consumer', executable('consumer', 'consumer.c', dependencies: tern))
END
# Only the way it is built is looked at, without the plugin, which is none of the library.
plain_build -Ddefault_library=shared -Dtern:cuda=disabled
meson test -C "$work/b" --no-rebuild >"$work/log" 2>&1 || { cat "$work/log"; fail "meson test"; }
DESTDIR=$work/root meson install -C "$work/b" --no-rebuild --quiet >/dev/null
[ ! -d "$work/root" ] || fail "the subproject installs: $(find "$work/root" -type f | head -n 3)"
