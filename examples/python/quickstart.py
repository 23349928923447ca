#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quickstart.c from Python, with nothing but ctypes and tern.json, which is installed beside it.

    quickstart.py LIBTERN.SO TERN.JSON [FOLDER with the four files of MNIST or Fashion-MNIST]
"""
import ctypes as c
import json
import re
import sys

NUMBERS = {"void": None, "bool": c.c_bool, "char": c.c_char, "int": c.c_int, "double": c.c_double,
           "size_t": c.c_size_t, "int64_t": c.c_int64, "uint64_t": c.c_uint64,
           "char *": c.c_char_p, "void *": c.c_void_p, "FILE *": c.c_void_p}


class Types:
    """The ctypes of the types that the description names, made when they are asked for."""

    def __init__(self, description):
        self.known = {**NUMBERS, **{item["name"]: c.c_int for item in description["enums"]}}
        kinds = ("opaque", "structs", "aliases", "callbacks")
        self.items = {item["name"]: item for kind in kinds for item in description[kind]}

    def __call__(self, words):
        words = re.sub(r"\bconst\b", "", words).strip()
        if words in self.known or not words.endswith("*"):
            return c.c_void_p if "(*)" in words else self.named(words)
        target = words[:-1].strip()
        is_callback = "result" in self.items.get(target, ())  # whose type is that of its pointer
        return self(target) if is_callback else c.POINTER(self(target))

    def named(self, name):
        if name in self.known:
            return self.known[name]
        item = self.items.get(name, {})
        if "type" in item:
            self.known[name] = self(item["type"])
        elif "result" in item:
            taken = [self(parameter["type"]) for parameter in item["parameters"]]
            self.known[name] = c.CFUNCTYPE(self(item["result"]), *taken)
        else:
            self.known[name] = type(name, (c.Structure,), {})
            if "fields" in item:
                kinds = [self(field["type"]) for field in item["fields"]]
                self.known[name]._fields_ = [(f["name"], k * f["length"] if "length" in f else k)
                                             for f, k in zip(item["fields"], kinds)]
        return self.known[name]


class Tern:
    """The library. Names are those of C without `tern_`; a failed call raises RuntimeError."""

    def __init__(self, library, description):
        with open(description, encoding="utf-8") as file:
            told = json.load(file)
        self.types = Types(told)
        self.library = c.CDLL(library)
        self.calls = {item["name"]: item for item in told["calls"]}
        numbers = told["constants"] + [value for item in told["enums"] for value in item["values"]]
        self.numbers = {item["name"]: item["value"] for item in numbers}
        for item in told["functions"]:
            function = getattr(self.library, item["name"])
            function.restype = self.types(item["result"])
            function.argtypes = [self.types(parameter["type"]) for parameter in item["parameters"]]
            if not item["name"].startswith("tern_error_"):
                function.errcheck = self.look

    def look(self, result, _function, _arguments):
        if self.library.tern_error_pending():
            message = self.library.tern_error_message().decode()
            self.library.tern_error_clear()
            raise RuntimeError(message)
        return result

    def __getattr__(self, name):
        if name in self.numbers:
            return self.numbers[name]
        if call := self.calls.get("tern_" + name):
            return lambda *values, **named: self.call(call, values, named)
        return getattr(self.library, "tern_" + name)

    def call(self, call, values, named):
        """What takes options: required values come first, then options by name."""
        options = getattr(self.library, call["defaults"])()
        in_order = zip(call["required"] + call["optional"], values)
        for field, value in [*in_order, *named.items()]:
            setattr(options, field, value)
        return getattr(self.library, call["with"])(c.byref(options))

    def nn_sequential(self, *children):
        array = (self.types("tern_module *") * len(children))(*children)
        return self.nn_sequential_new(len(children), array)

    def batches(self, loader):
        batch = self.types("tern_batch")()
        while self.loader_next(loader, c.byref(batch)):
            yield batch  # temporaries live until the next one


def accuracy(tern, net, data, dev):
    loader = tern.loader_new(data, batch_size=1000, device=dev)
    correct = 0
    tern.module_eval(net)
    tern.set_grad_enabled(False)
    for b in tern.batches(loader):
        guess = tern.argmax(tern.forward(net, b.x), 1, False)
        correct += tern.item(tern.sum_all(tern.eq(guess, b.y)))
    tern.set_grad_enabled(True)
    tern.module_train(net, True)
    tern.loader_free(loader)
    return correct / tern.dataset_count(data)


def main(library, description, folder="/usr/share/datasets/fashion-mnist"):
    tern = Tern(library, description)
    tern.manual_seed(42)
    dev = tern.device_best()
    net = tern.nn_sequential(tern.nn_flatten(), tern.nn_linear(784, 512), tern.nn_relu(),
                             tern.nn_linear(512, 10))
    criterion = tern.nn_cross_entropy_loss(label_smoothing=0.1)
    opt = tern.optim_adam(net, lr=1e-3)
    for module in (net, criterion):
        tern.module_to(module, dev)
    train = tern.data_mnist(folder.encode(), tern.TERN_TRAIN)
    test = tern.data_mnist(folder.encode(), tern.TERN_TEST)
    loader = tern.loader_new(train, batch_size=64, shuffle=True, device=dev)
    for _ in range(2):
        for b in tern.batches(loader):
            loss = tern.loss(criterion, tern.forward(net, b.x), b.y)
            tern.optim_zero_grad(opt)
            tern.backward(loss)
            tern.optim_step(opt)
    print(f"{100 * accuracy(tern, net, test, dev):.1f} % of the test images")
    tern.loader_free(loader)  # in any order
    for dataset in (train, test):
        tern.dataset_free(dataset)
    tern.optim_free(opt)
    for module in (criterion, net):
        tern.module_free(module)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f"tern: {error}")
