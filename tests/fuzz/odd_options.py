#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random options, absurd ones among them, for every call of the headers that takes options and
makes a tensor or a module. A module runs once, a tensor is differentiated. Nothing is compared: a
call may fail, and must not crash; one that takes more than a second is named. The calls and their
structs are those of tern.json.

A library with AddressSanitizer needs LD_PRELOAD of its runtime, and
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=128.

Calls FIRST to FIRST + COUNT - 1 depend on their number alone: halve the range to find one.

usage: odd_options.py LIBTERN.SO TERN.JSON FIRST COUNT"""
import ctypes as c
import faulthandler
import json
import random
import resource
import sys
import time

INTEGERS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 17, -1, -2, -3, 64, 2**31 - 1, 2**31, 2**32, 2**62,
            2**63 - 1, -2**63, -2**31)
SMALL = (0, 1, 1, 1, 2, 2, 3, 4, 5, 8)
DOUBLES = (0.0, 0.5, 1.0, 1.0, 2.0, 0.1, -1.0, 1e-5, 1e300, -1e300, 5e-324, 1e19, -0.0,
           float('inf'), float('-inf'), float('nan'))
SIZES = {'bool': c.c_bool, 'char': c.c_char, 'int': c.c_int, 'int64_t': c.c_int64,
         'uint64_t': c.c_uint64, 'size_t': c.c_size_t, 'double': c.c_double}
RESULTS = ('tern_tensor *', 'tern_module *')
LEFT_OUT = ('tern_from_data',)  # reads memory of the caller's
LARGE, LARGE_CHANCE = 'tern_models_', 1e-3  # networks of a set size, seconds to make and run
MOST_BYTES = 1 << 27  # of address space beyond what there is: calls that ask for more fail


class Headers:
    def __init__(self, path):
        description = json.load(open(path, encoding='utf-8'))
        self.structs = {s['name']: s['fields'] for s in description['structs']}
        self.aliases = {a['name']: a['type'] for a in description['aliases']}
        self.enums = {e['name']: [v['value'] for v in e['values']] for e in description['enums']}
        results = {f['name']: f['result'] for f in description['functions']}
        self.calls = [call | {'result': results[call['with']]} for call in description['calls']
                      if results[call['with']] in RESULTS and call['name'] not in LEFT_OUT]
        self.weights = [LARGE_CHANCE if call['name'].startswith(LARGE) else 1
                        for call in self.calls]
        self.made = {}

    def type(self, name, length=None):
        if length:
            return self.type(name) * length
        if name.endswith('*') or '(' in name:
            return c.c_void_p
        if name in SIZES or name in self.enums:
            return SIZES.get(name, c.c_int)
        name = self.aliases.get(name, name)
        if name not in self.made:
            fields = [(f['name'], self.type(f['type'], f.get('length')))
                      for f in self.structs[name]]
            self.made[name] = type(name, (c.Structure,), {'_fields_': fields})
        return self.made[name]


class Run:
    def __init__(self, library, headers, seed):
        self.library, self.headers, self.random = library, headers, random.Random(seed)

    def call(self, name, *arguments, result=c.c_void_p):
        function = getattr(self.library, name)
        function.restype = result
        return function(*arguments)

    def shape(self, rank=None):
        sizes = [self.random.choice(SMALL) for _ in range(self.random.randint(0, 5)
                                                         if rank is None else rank)]
        shape = self.headers.type('tern_shape')()
        shape.rank, shape.dim[:len(sizes)] = len(sizes), sizes
        return shape

    def tensor(self):
        options = self.call('tern_rand_defaults', result=self.headers.type('tern_rand_options'))
        options.shape = self.shape(self.random.choice((0, 1, 2, 3, 4, 4, 5)))
        options.requires_grad = self.random.random() < 0.5
        return self.call('tern_randn_with', c.byref(options))

    def value(self, name, length, now):
        """Of a field; `now` is its default."""
        if length:
            for i in range(length):
                now[i] = self.value(name, None, now[i])
            return now
        if name == 'tern_tensor *':
            return self.tensor()
        if name.endswith('*') or '(' in name or name == 'char':
            return now
        if name in self.headers.enums:
            return self.random.choice(self.headers.enums[name] + [-1, 99])
        if name == 'bool':
            return self.random.random() < 0.5
        if name == 'double':
            return self.random.choice(DOUBLES)
        if name in ('int', 'int64_t', 'uint64_t', 'size_t'):
            number = self.random.choice(SMALL if self.random.random() < 0.7 else INTEGERS)
            return number if name != 'int' else max(-2**31, min(number, 2**31 - 1))
        if name == 'tern_shape':
            return self.shape() if self.random.random() < 0.7 else self.fill(now, 1)
        return self.fill(now, 1) if name != 'tern_device' else now

    def fill(self, struct, chance):
        name = type(struct).__name__
        for field in self.headers.structs[self.headers.aliases.get(name, name)]:
            if self.random.random() < chance:
                now = getattr(struct, field['name'])
                setattr(struct, field['name'], self.value(field['type'], field.get('length'), now))
        return struct

    def options(self, call):
        struct = self.headers.type(call['options'])
        options = self.call(call['defaults'], result=struct)
        required = {*call['required'], *call['optional']}
        for field in self.headers.structs[struct.__name__]:
            if field['name'] == 'reserved_' or (field['name'] not in required
                                                and self.random.random() < 0.6):
                continue
            now = getattr(options, field['name'])
            setattr(options, field['name'], self.value(field['type'], field.get('length'), now))
        return options

    def use(self, call, made):
        if call['result'] == 'tern_module *':
            self.call('tern_forward', c.c_void_p(made), c.c_void_p(self.tensor()))
            self.call('tern_module_free', c.c_void_p(made), result=None)
        elif self.call('tern_requires_grad', c.c_void_p(made), result=c.c_bool):
            self.call('tern_error_clear', result=None)
            total = self.call('tern_sum_all', c.c_void_p(made))
            options = self.call('tern_backward_defaults',
                                result=self.headers.type('tern_backward_options'))
            options.loss = total
            self.call('tern_backward_with', c.byref(options), result=c.c_int)

    def once(self):
        call = self.random.choices(self.headers.calls, self.headers.weights)[0]
        start = time.monotonic()
        scope = self.call('tern_scope_open', result=c.c_uint64)
        made = self.call(call['with'], c.byref(self.options(call)))
        if made:
            self.use(call, made)
        self.call('tern_error_clear', result=None)
        self.call('tern_scope_close', c.c_uint64(scope), result=None)
        return bool(made), call['name'], time.monotonic() - start


def limit_memory():
    """AddressSanitizer reserves terabytes; its own limit is max_allocation_size_mb."""
    if hasattr(c.CDLL(None), '__asan_init'):
        return
    with open('/proc/self/statm', encoding='ascii') as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, now + MOST_BYTES))


def main():
    faulthandler.enable()
    limit_memory()
    library, headers = c.CDLL(sys.argv[1]), Headers(sys.argv[2])
    first, count = int(sys.argv[3]), int(sys.argv[4])
    made = 0
    for seed in range(first, first + count):
        succeeded, name, seconds = Run(library, headers, seed).once()
        made += succeeded
        if seconds > 1:
            print(f'call {seed}, {name}: {seconds:.1f} s', flush=True)
    print(f'{count} calls of {len(headers.calls)} kinds, {made} made something')
    return 0 if made > count / 20 else 1


if __name__ == '__main__':
    sys.exit(main())
