// SPDX-License-Identifier: Apache-2.0
// The names of what a packed file has: see tern_data_pack.
#ifndef TERN_SRC_DATA_FILE_PACKED_H
#define TERN_SRC_DATA_FILE_PACKED_H

#define TERN_PACKED_IMAGES  "images"
#define TERN_PACKED_OFFSETS "offsets"
#define TERN_PACKED_LABELS  "labels"
#define TERN_PACKED_CLASSES "classes"
#define TERN_PACKED_NAMES   "names"

#endif
