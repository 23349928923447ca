#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A test whose data are damaged or missing fails, and says so in one sentence.
# Usage: damaged.sh TEST_OPS_GOLDEN DATA
set -eu
program=$1
data=$2
TERN_GOLDEN=$(mktemp -d)
export TERN_GOLDEN
trap 'rm -rf "$TERN_GOLDEN"' EXIT

# refused WORDS: the test fails and says these words, and no case has run.
refused()
{
    if said=$("$program" 2>&1); then
        echo "it passed, and should have said: $1" && exit 1
    fi
    case $said in
    *"RUN"*) echo "it ran cases" && exit 1 ;;
    "golden data ops: "*"$1"*"; scripts/golden.sh writes it anew") echo "ok: $said" ;;
    *) echo "it said: $said" && exit 1 ;;
    esac
    cp "$data"/* "$TERN_GOLDEN"
}

# changed COMMAND...: the archive with its content as this filter leaves it.
changed()
{
    gzip -dc "$data/ops.gz" | "$@" | gzip -n >"$TERN_GOLDEN/ops.gz"
}

refused 'cannot open'
"$program" >/dev/null
printf '\001' | dd of="$TERN_GOLDEN/ops.gz" bs=1 seek=1003 conv=notrunc 2>/dev/null
refused 'ops.gz is damaged'
truncate -s 1000 "$TERN_GOLDEN/ops.gz"
refused 'ops.gz is damaged'
changed sed '0,/^word reduction 1/s//word reduction 2/'
refused 'ops.gz is damaged: its hash is'
changed sed '20d'
refused 'ops.gz is damaged: its hash is'
changed head -c 1000
refused 'ops.gz ends before its'
changed sed '1s/, [0-9]* bytes/, 99999999 bytes/'
refused 'ops.gz ends before its 99999999 bytes of arrays'
changed sed '1s/golden 1/golden 2/'
refused 'begins otherwise'
: >"$TERN_GOLDEN/ops.gz"
refused 'begins otherwise'
