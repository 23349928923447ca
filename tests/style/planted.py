# SPDX-License-Identifier: Apache-2.0
"""A small tree without a fault, and one fault after another to plant in it.

A fault is (rule, file, text, line): with `text` as the file's content the rule reports exactly that
line, or nothing when the line is 0.
"""
LICENCE = '// SPDX-License-Identifier: Apache-2.0\n'


def macro(*lines):
    return '\n'.join(f'{line:<99}\\' for line in lines) + '\n    }'


FUNCTION = macro('#define FUNCTION_(name)', '    int(tern_##name)(int x)', '    {',
                 '        return tern_op(x);')
OPTIONS = macro('#define OPTIONS(family, FAMILY)', '    int family##_defaults(void)', '    {',
                '        return 0;')

CLEAN = {
    '.clang-format': 'BasedOnStyle: LLVM\nIndentWidth: 4\nColumnLimit: 100\n'
                     'BreakBeforeBraces: Linux\nAllowShortFunctionsOnASingleLine: None\n',
    '.editorconfig': 'root = true\n\n[*]\ncharset = utf-8\nend_of_line = lf\n'
                     'insert_final_newline = true\ntrim_trailing_whitespace = true\n'
                     'indent_style = space\nmax_line_length = 100\n\n[*.md]\n'
                     'max_line_length = off\n',
    'meson.build': "# SPDX-License-Identifier: Apache-2.0\nproject('x', 'c')\n",
    'scripts/run.sh': '#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\necho\n',
    'src/base/mem.h': f'{LICENCE}int tern_mem(int a);\n',
    'src/base/mem.c': f'{LICENCE}#include "base/mem.h"\n\n'
                      'int tern_mem(int a)\n{\n    return a;\n}\n',
    'src/base/error.c': f'{LICENCE}const char *tern_error_message(void)\n{{\n    return "";\n}}\n',
    'src/tensor/op.h': f'{LICENCE}#define TERN_RUN(a) tern_op(a)\ntypedef int tern_result;\n'
                       'int tern_op(int a);\n',
    'src/tensor/op.c': f'{LICENCE}#include "tensor/op.h"\n#include "base/mem.h"\n'
                       '#include <tern/error.h>\n\n'
                       'int tern_op(int a)\n{\n    switch (a) {\n    case 1:\n        return 2;\n'
                       '    default:\n        return tern_mem(a);\n    }\n}\n'
                       '\nstatic int tern_hidden(int a)\n{\n    return a;\n}\n',
    'src/autograd/shutdown.c': f'{LICENCE}void tern_shutdown(void)\n{{\n}}\n',
    'src/ops/unary.c': f'{LICENCE}#define FUNCTIONS(FUNCTION) FUNCTION(relu)\n'
                       '#define FUNCTION(name) FUNCTION_(name)\n'
                       f'{FUNCTION}\n'
                       'FUNCTION(abs)\nFUNCTIONS(FUNCTION)\n#include "device/functions.def"\n',
    'src/device/functions.def': f'{LICENCE}FUNCTION(exp)\n',
    'src/train/options.def': f'{LICENCE}OPTIONS(tern_relu, TERN_RELU)\n',
    'src/train/options.c': f'{LICENCE}{OPTIONS}\n#include "train/options.def"\n\n'
                           'int tern_abs_defaults(void)\n{\n    return 0;\n}\n',
    'src/cuda/host/plugin.c': f'{LICENCE}const char *tern_error_message(void)\n{{\n'
                              '    return "";\n}\n',
    'include/tern/error.h': f'{LICENCE}/// @file\n/// Errors are values, and threads are fine.\n'
                            '#ifndef TERN_ERROR_H\n#define TERN_ERROR_H\n'
                            '/// The sentence; static storage, never NULL.\n'
                            'TERN_API const char *tern_error_message(void);\n'
                            '/// One; never NULL.\nstatic inline int tern_late(void)\n{\n'
                            '    return tern_op(1);\n}\n#endif\n',
    'tests/test_op.c': f'{LICENCE}int main(void)\n{{\n    return 0;\n}}\n',
}

OP = f'{LICENCE}int tern_op(int a)\n{{\n'
HEADER = (f'{LICENCE}/// @file\n/// A subject in a few words. Threads: any. '
          'Calls return NULL when they fail;\n/// results are owned by the caller.\n'
          '#ifndef TERN_X_H\n#define TERN_X_H\n')
LONG_BODY = '    a++;\n' * 58

INCLUDES = [
    ('arrows', 'src/base/up.c', '#include "tensor/op.h"\n', 1),
    ('arrows', 'src/ops/relu.c', '\n#include "cpu/backend.h"\n', 2),
    ('arrows', 'src/cpu/relu.c', '#include "cuda/relu.h"\n', 1),
    ('arrows', 'src/io/npy.c', '#include <tern/module.h>\n', 1),
    ('arrows', 'src/optim/sgd.c', '#include "data/rows.h"\n', 1),
    ('arrows', 'src/nn/layer/relu.c', '#include "layer.h"\n', 1),
    ('arrows', 'src/nn/layer/relu.c', '#include <tern/tern.h>\n', 1),
    ('arrows', 'src/attic/old.c', '#include "base/mem.h"\n', 1),
    ('arrows', 'include/tern/scope.h', '#include <tern/ops.h>\n', 1),
    ('arrows', 'include/tern/device.h', '#include <tern/tensor.h>\n', 1),
    ('arrows', 'src/cpu/relu.c', '#include "tensor/op.h"\n', 1),
    ('arrows', 'src/io/npy.c', '#include <tern/ops/unary.h>\n', 1),
    ('arrows', 'src/nn/layer/relu.c', '#include <tern/ops/unary.h>\n#include "state/visit.h"\n', 0),
    ('arrows', 'examples/x.c', '#include "base/mem.h"\n', 1),
    ('arrows', 'tools/x.c', '#include "base/mem.h"\n', 1),
    ('arrows', 'src/train/fit.c', '#include "base/mem.h"\n#include "optim/optim.h"\n', 0),
    ('arrows', 'src/base/up.c', '/*\n#include "tensor/op.h"\n*/\n#include "base/mem.h"\n', 0),
]

CALL = 'int f(int a)\n{\n    return tern_%s(a);\n}\n'
FROM_OP = '#include "tensor/op.h"\nint tern_mem(int a)\n{\n    %s;\n}\n'

CALLS = [
    ('calls', 'src/base/up.c', CALL % 'op', 3),
    ('calls', 'src/base/up.c', f'static inline {CALL % "relu"}', 3),
    ('calls', 'src/tensor/up.c', CALL % 'abs', 3),
    ('calls', 'src/tensor/up.c', CALL % 'exp', 3),
    ('calls', 'src/io/npy.c', CALL % 'relu', 3),
    ('calls', 'src/cpu/op.c', f'int tern_cpu_op(int);\n{CALL % "op"}', 4),
    ('calls', 'src/base/up.c', 'int (*table[])(int) = {tern_op};\n', 1),
    ('calls', 'src/base/up.c', 'int f(void)\n{\n    return TERN_RUN(1);\n}\n', 3),
    ('calls', 'src/base/up.c', CALL % 'late', 3),
    ('calls', 'src/base/up.h', f'static inline {CALL % "op"}', 3),
    ('calls', 'src/base/up.h', 'int tern_op(int a);\n', 0),
    ('calls', 'src/base/up.c', f'// tern_op\nconst char *f = "tern_op";\n{CALL % "mem"}', 0),
    ('calls', 'src/base/up.c', f'static int tern_op(int a)\n{{\n}}\n{CALL % "op"}', 0),
    ('calls', 'src/base/up.c', f'#define SLOT(k) .k = tern_##k,\nint t[] = {{SLOT(op)}};\n', 0),
    ('calls', 'src/base/up.c', 'int f(int a)\n{\n    return x->op(a) + x->tern_op(a);\n}\n', 0),
    ('calls', 'src/data/rows.c', f'{CALL % "relu"}{CALL % "error_message"}', 0),
    ('calls', 'src/attic/old.c', 'const char *tern_error_message(void)\n{\n}\n', 0),
    ('homes', 'include/tern/device.h', 'TERN_API int tern_op(int a);\n', 1),
    ('homes', 'include/tern/nn/relu.h', 'TERN_API int\ntern_relu(int x);\n', 2),
    ('homes', 'include/tern/ops.h', '\nTERN_API int tern_gone(int x);\n', 2),
    ('homes', 'include/tern/tensor.h', 'TERN_API int tern_hidden(int a);\n', 1),
    ('homes', 'include/tern/attic.h', 'TERN_API int tern_op(int a);\n', 1),
    ('homes', 'include/tern/ops/unary.h', 'TERN_API int tern_relu(int x);\n', 0),
    ('homes', 'include/tern/base.h', 'TERN_API void tern_shutdown(void);\n', 0),
    ('homes', 'include/tern/nn/relu.h', 'TERN_API int tern_abs_defaults(void);\n', 1),
    ('homes', 'include/tern/nn/relu.h', 'TERN_API int tern_relu_defaults(void);\n', 0),
    ('circles', 'src/base/mem.c', f'{CALL % "mem"}int tern_mem(int a)\n{{\n    tern_op(a);\n}}\n',
     7),
    ('circles', 'src/base/mem.c', FROM_OP % 'tern_relu(a)', 4),
    ('circles', 'src/base/mem.c', FROM_OP % 'tern_result b', 1),
    ('circles', 'src/base/mem.h', f'int tern_mem(int a);\nstatic inline {CALL % "op"}', 4),
    ('circles', 'src/base/mem.c', FROM_OP % 'a++', 0),
    ('circles', 'src/base/mem.c', '#include <tern/scope.h>\nint tern_mem(int a)\n{\n}\n', 0),
    ('circles', 'src/base/up.c', CALL % 'op', 3),
    ('circles', 'src/tensor/op.c', f'int tern_op(int a)\n{{\n    tern_op(a);\n}}\n', 0),
    ('families', 'src/cpu/loss/mse.c', 'int a;\n', 1),
    ('families', 'src/cuda/loss/mse.cu', 'int a;\n', 1),
    ('families', 'src/cpu/attic/mse.c', 'int a;\n', 1),
    ('families', 'src/ops/deep/x.c', 'int a;\n', 1),
    ('families', 'src/nn/layer/linear.c', 'int a;\n', 0),
    ('families', 'src/cuda/host/caching_allocator.c', 'int a;\n', 0),
]

SIZES = [
    ('sizes', 'src/base/long.c', LICENCE + 'int a;\n' * 500, 501),
    ('sizes', 'src/base/long.c', LICENCE + 'int a;\n' * 499, 0),
    ('sizes', 'src/base/long.c', f'{OP}{LONG_BODY}}}\n', 2),
    ('sizes', 'src/base/long.c', f'{OP}{LONG_BODY[:-9]}}}\n', 0),
    ('sizes', 'src/base/long.c', f'CALL(\n  a)\nstatic int f(void)\n{{\n{LONG_BODY}}}\n', 3),
    ('sizes', 'src/base/long.c', f'int f(void)\n{{\n#if A\n  if (a) {{\n#else\n  {{\n#endif\n'
                                 f'  }}\n{LONG_BODY[:-54]}}}\nint g(void)\n{{\n}}\n', 1),
    ('sizes', 'src/base/long.h', '#define X \\\n' + '    a \\\n' * 60 + '    b\n', 1),
    ('sizes', 'bench/x.c', '\n// ' + 'x' * 98 + '\n', 2),
]

TEXTS = [
    ('editorconfig', 'docs/x.md', 'a\nb \n', 2),
    ('editorconfig', 'docs/x.md', 'a\nb', 2),
    ('editorconfig', 'docs/x.md', 'a\r\n', 1),
    ('editorconfig', 'docs/x.md', b'a\n\n\xff\n', 3),
    ('editorconfig', 'docs/x.md', 'a' * 101 + '\n', 0),
    ('editorconfig', 'scripts/x.py', 'a' * 101 + '\n', 1),
    ('editorconfig', 'src/base/x.c', 'int a;\n\tint b;\n', 2),
    ('licence', 'src/base/x.c', 'int a;\n', 1),
    ('licence', 'scripts/x.py', '#!/usr/bin/env python3\nprint()\n', 2),
    ('licence', 'scripts/run', '#!/bin/sh\necho\n', 2),
    ('licence', 'tests/meson.build', "subdir('x')\n", 1),
    ('licence', 'meson_options.txt', "option('x')\n", 1),
    ('format', 'src/base/x.c', 'int a;\nint  b;\n', 2),
]

SOURCES = [
    ('ends', 'src/base/x.c', f'{OP}    abort();\n}}\n', 4),
    ('ends', 'src/base/x.c', f'{OP}    exit(1);\n}}\n', 4),
    ('ends', 'src/base/x.c', f'{OP}    assert(a);\n}}\n', 4),
    ('ends', 'src/base/x.c', f'{OP}    atexit(_exit);\n}}\n', 4),
    ('ends', 'src/base/x.c', f'{OP}    // never abort()\n    return "exit(1)"[0];\n}}\n', 0),
    ('prints', 'src/base/x.c', f'{OP}    printf("%d", a);\n}}\n', 4),
    ('prints', 'src/base/x.c', f'{OP}    fprintf(\n        stderr, "x");\n}}\n', 5),
    ('prints', 'src/base/x.c', f'{OP}    puts("x");\n}}\n', 4),
    ('prints', 'src/base/x.c', 'int tern_print(FILE *f)\n{\n    f = f ? f : stdout;\n}\n', 0),
    ('prints', 'src/base/x.c', 'int tern_print(int a)\n{\n}\nint f(void)\n{\n    perror("");\n}\n',
     6),
    ('prints', 'src/base/x.c', f'{OP}    snprintf(b, 2, "x");\n    fprintf(file, "x");\n}}\n', 0),
    ('leftovers', 'src/base/x.c', '\n// TO' + 'DO: more\n', 2),
    ('leftovers', 'include/tern/x.h', '/* FIX' + 'ME */\n', 1),
    ('leftovers', 'src/base/x.c', 'int a;\n#if 0\nint b;\n#endif\n', 2),
    ('intrinsics', 'src/cpu/step/x.c', '\nint a;\n__m256 b;\n', 3),
    ('intrinsics', 'src/cpu/vec.h', '#include <immintrin.h>\n', 0),
    ('switches', 'src/base/x.c', f'{OP}    switch (a) {{\n    case TERN_CPU:\n        return 1;\n'
                                 '    default:\n        return 2;\n    }\n}\n', 7),
    ('switches', 'src/base/x.c', f'{OP}    switch (a) {{\n    case TERN_CPU:\n        return 1;\n'
                                 '    }\n    switch (b) {\n    default:\n        ;\n    }\n}\n', 0),
    ('switches', 'src/cuda/x.cu', f'{OP}    switch (a) {{\n        TERN_FLOATING_CASES(T, f(a))\n'
                                  '    default:\n        return 0;\n    }\n}\n', 6),
    ('switches', 'src/cuda/x.cuh', f'{OP}    switch (a) {{\n#define LOSS(CODE) \\\n'
                                   '    case TERN_LOSS_##CODE: \\\n        return 1;\n'
                                   '    default:\n        return 0;\n    }\n}\n', 8),
    ('switches', 'src/cuda/x.cu', f'{OP}    switch (a) {{\n        TERN_FLOATING_CASES(T, f(a))\n'
                                  '    }\n    return 0;\n}\n', 0),
]

HEADERS = [
    ('own_headers', 'src/base/mem.c', '#include <errno.h>\n#include "base/mem.h"\n', 1),
    ('own_headers', 'src/base/mem.c', '#include "base/mem.h"\n#include <errno.h>\n', 0),
    ('own_headers', 'src/nn/layer/norm.h', '\n#ifndef TERN_SRC_NN_NORM_H\n'
     '#define TERN_SRC_NN_NORM_H\n#endif\n', 2),
]

COMMENTS = [
    ('documented', 'include/tern/x.h', f'{HEADER}TERN_API int tern_x(int a);\n', 7),
    ('documented', 'include/tern/x.h', f'{HEADER}/// Gives a.\n\nTERN_API int tern_x(void);\n', 9),
    ('documented', 'include/tern/x.h', f'{HEADER}/// A.\nTERN_API int tern_x(int a);\n', 8),
    ('documented', 'include/tern/x.h', f'{HEADER}/// Gives a.\nTERN_API int tern_x(int a);\n', 0),
    ('documented', 'include/tern/x.h', f'{HEADER}TERN_API int tern_x(int a); ///< gives a\n', 0),
    ('documented', 'include/tern/x.h', f'{HEADER}/// A.\n#define TERN_A 1\n#define TERN_B 2\n', 9),
    ('documented', 'include/tern/x.h', f'{HEADER}typedef struct tern_x tern_x;\n', 7),
    ('documented', 'include/tern/x.h', f'{HEADER}typedef void tern_fn(int a);\n', 7),
    ('documented', 'include/tern/x.h',
     f'{HEADER}/// An x.\ntypedef struct tern_x {{\n    int a; ///< a\n    int b[4];\n}} tern_x;\n',
     10),
    ('documented', 'include/tern/x.h',
     f'{HEADER}/// An x.\nstruct tern_x {{\n    int a; ///< a\n    void (*f)(int a);\n}};\n', 10),
    ('documented', 'include/tern/x.h',
     f'{HEADER}/// An x.\ntypedef enum tern_x {{\n    TERN_A, ///< a\n    TERN_B\n}} tern_x;\n',
     10),
    ('documented', 'include/tern/x.h', f'{LICENCE}/// Is a.\n#define TERN_A 1\n', 1),
    ('documented', 'include/tern/x.h',
     f'{HEADER.replace("Threads: any", "Any")}/// Gives a.\nTERN_API int tern_x(int a);\n', 8),
    ('documented', 'include/tern/x.h',
     f'{HEADER.replace("owned by", "for")}/// Gives a.\nTERN_API char *tern_x(int a);\n', 8),
    ('documented', 'include/tern/x.h',
     HEADER.replace('NULL when they fail', 'soon') +
     '/// Gives a.\nTERN_API TERN_NODISCARD tern_status tern_x(int a);\n', 8),
]

WORDS = [
    ('words', 'src/base/x.c', 'int tern_fold_all(int a);\n', 1),
    ('words', 'src/base/x.c', '\n#define MOST_ROWS 4\n', 2),
    ('words', 'src/ops/x.c', '\nstatic int FrontOf(int a);\nint front_of(int a);\n', 3),
    ('words', 'src/tensor/x.h', 'void tern_storage_hold(int a);\n', 1),
    ('words', 'src/ops/fused.c', 'int a;\n', 1),
    ('words', 'src/base/x.c', '// room\nconst char *a = "room"; int roomy, tern_dropout;\n', 0),
    ('words', 'src/attic/x.c', 'int fold;\n', 0),
]

FAULTS = INCLUDES + CALLS + SIZES + TEXTS + SOURCES + HEADERS + COMMENTS + WORDS
