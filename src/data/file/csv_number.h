// SPDX-License-Identifier: Apache-2.0
// Numbers as cells have them, the same in every locale.
#ifndef TERN_SRC_DATA_FILE_CSV_NUMBER_H
#define TERN_SRC_DATA_FILE_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

// Whether a text is a number: blanks, a sign, decimal digits with or without a point, an exponent,
// blanks. Neither hexadecimal nor "nan" nor "inf". *value is the double nearest to it, infinite
// where it is beyond all of them.
bool tern_csv_number(const char *text, double *value);

// Whether a text is an integer: blanks, a sign, decimal digits, blanks; one that an int64 does not
// hold is none.
bool tern_csv_integer(const char *text, int64_t *value);

#endif
