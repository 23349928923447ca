#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# consumer.sh c11|c++17|c++20 shared|static FILE
. "$(dirname "$0")/common.sh"
[ "$1" = c11 ] || [ -n "$CXX" ] || skip "no C++ compiler"
install_tern
consumer "$@"
