// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_TESTS_ERRORS_MANIFEST_H
#define TERN_TESTS_ERRORS_MANIFEST_H

// Checks the cases against the functions that the headers (paths) declare with TERN_API. Returns
// the number of failed tests.
int run_manifest(int count, char *const *headers);

#endif
