#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes anew what the tests hold of PyTorch's results (tests/golden/data), of files that PyTorch,
# numpy and safetensors write (tests/io/data), and of what the scripts of examples/ports print
# (examples/ports/expected).
# Usage: scripts/golden.sh [--check]
#   --check   makes them in a folder that goes away and compares them with those of the tree, by the
#             tolerances of tests/golden/compare.py, since another processor rounds otherwise; and
#             runs tests/golden/torch_*_check.py, which compare PyTorch with the page
#             docs/pytorch-semantics.md; exits 1 when something differs
# Environment: TERN_GOLDEN_VENV and PIP_EXTRA_INDEX_URL, as make_reference_venv of common.sh says.
. "$(dirname "$0")/common.sh"

# make_into FOLDER FILES PORTS: every family, the files, and what the ports print. One thread and
# one instruction set for all machines: sums in another order have other last bits.
make_into()
(
    export TERN_GOLDEN="$1" TERN_GOLDEN_FILES="$2" TERN_GOLDEN_PORTS="$3" PYTHONWARNINGS=ignore
    export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 PYTHONHASHSEED=0 # TorchScript goes over sets
    export ATEN_CPU_CAPABILITY=avx2 MKL_CBWR=AVX2 DNNL_MAX_CPU_ISA=AVX2
    for script in "$root"/tests/golden/make_*.py; do
        "$python" "$script" >&2
    done
)

# Exits 1 when something differs.
check()
{
    status=0
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    mkdir "$fresh/data" "$fresh/files" "$fresh/ports"
    make_into "$fresh/data" "$fresh/files" "$fresh/ports"
    for pair in data:tests/golden/data files:tests/io/data ports:examples/ports/expected; do
        "$python" "$root/tests/golden/compare.py" "$fresh/${pair%%:*}" "$root/${pair#*:}" >&2 ||
            status=1
    done
    for script in "$root"/tests/golden/torch_*_check.py; do
        "$python" "$script" >&2 || status=1
    done
    [ "$status" = 0 ] || say "what is stored is not what PyTorch gives here"
    exit $status
}

case ${1:-} in
'' | --check) ;;
*) say "usage: scripts/golden.sh [--check]" && exit 2 ;;
esac
need dataset-fashion-mnist
make_reference_venv
if [ "${1:-}" = --check ]; then
    check
else
    make_into "$root/tests/golden/data" "$root/tests/io/data" "$root/examples/ports/expected"
fi
