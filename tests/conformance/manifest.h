// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_TESTS_MANIFEST_H
#define TERN_TESTS_MANIFEST_H

// Fails unless every function of the headers of operations and modules has a case or is listed as
// none.
void check_manifest(const char *include_dir);
// Fails unless every constructor of a module, an optimizer or a dataset has its rows.
void check_public_objects(const char *include_dir);

#endif
