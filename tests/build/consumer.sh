#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# consumer.sh c|cpp shared|static FILE
. "$(dirname "$0")/common.sh"
[ "$1" = c ] || [ -n "$CXX" ] || skip "no C++ compiler"
install_tern
consumer "$@"
