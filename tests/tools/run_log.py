# SPDX-License-Identifier: Apache-2.0
"""Logs of runs, as docs/log.schema.json describes them: run_log.py FOLDER [SEED] writes one."""
import base64
import json
import math
import os
import random
import struct
import sys
import zlib
from pathlib import Path

START = 1764000000.0
CLASSES = ['T-shirt', 'Trouser', 'Pullover', 'Dress', 'Coat', 'Sandal', 'Shirt', 'Sneaker', 'Bag',
           'Ankle boot']


def png(height, width, pixels):
    """A grey PNG file in base64, of bytes row by row."""
    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', check)
    rows = b''.join(b'\0' + bytes(pixels[y * width:(y + 1) * width]) for y in range(height))
    header = struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)
    data = (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) +
            chunk(b'IEND', b''))
    return base64.b64encode(data).decode()


def number(value):
    """Members of a number, which may not be finite."""
    if math.isfinite(value):
        return {'value': value}
    return {'value': None, 'text': 'nan' if value != value else 'inf' if value > 0 else '-inf'}


class Log:
    """The lines of a log; `time` moves on with each step."""
    def __init__(self, folder, **run):
        self.path = Path(folder) / 'log.jsonl'
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.time = START
        self.lines = []
        self.begin(**run)

    def begin(self, **more):
        self.add('run', **{'schema': 1, 'name': self.path.parent.name, 'tern': '0.1.0',
                           'host': 'elsewhere', 'pid': 1, 'seed': 42,
                           'machine': {'cpu': 'Example CPU', 'cpus': 8, 'threads': 8,
                                       'isa': 'avx2', 'devices': ['cpu']},
                           'resume_step': None, **more})

    def add(self, kind, **members):
        self.lines.append(json.dumps({'kind': kind, 'time': self.time, **members}))

    def scalar(self, tag, step, value):
        self.add('scalar', step=step, tag=tag, **number(value))

    def histogram(self, tag, step, values, buckets=30):
        low, high = min(values), max(values)
        width = (high - low) / buckets or 1
        counts = [0] * buckets
        for value in values:
            counts[min(int((value - low) / width), buckets - 1)] += 1
        self.add('histogram', step=step, tag=tag, min=low, max=high, count=len(values),
                 sum=sum(values), sum_squares=sum(v * v for v in values), nan=0, inf=0,
                 limits=[low + width * (i + 1) for i in range(buckets)], counts=counts)

    def write(self, end='\n', mode='w'):
        with open(self.path, mode, encoding='utf-8') as file:
            file.write('\n'.join(self.lines) + end)
        self.lines = []
        return self.path


def confusion(draw, right):
    rows = []
    for i in range(10):
        row = [draw.randrange(0, 12) for _ in range(10)]
        row[i] = int(1000 * right)
        if i == 6:
            row[0], row[2], row[4] = 118, 74, 71
        rows += row
    return rows


def example(folder, seed=1, epochs=12, steps=120, ended='finished', lr=0.001, **run):
    """A run as the example programs log it, with all kinds of lines."""
    draw = random.Random(seed)
    log = Log(folder, seed=seed, **run)
    log.add('settings', settings={'optimizer': 'adam', 'lr': lr, 'epochs': epochs,
                                  'batch_size': 64, 'augment': seed % 2 == 0,
                                  'model': 'mlp 784-512-10', 'dropout': 0.1 * seed})
    drift = [draw.gauss(0, 0.05) for _ in range(4000)]
    for epoch in range(epochs):
        for i in range(steps):
            step = epoch * steps + i + 1
            log.time += 0.11 + 0.02 * draw.random()
            at = step / (epochs * steps)
            loss = 0.28 + 1.9 * math.exp(-9 * at * (lr / 0.001) ** 0.5)
            log.scalar('train/loss', step, loss * math.exp(draw.gauss(0, 0.16)))
            log.scalar('train/accuracy', step,
                       min(1.0, 0.9 - 0.75 * math.exp(-9 * at) + draw.gauss(0, 0.03)))
            log.scalar('lr', step, lr * 0.5 * (1 + math.cos(math.pi * at)))
            if i % 10 == 0:
                log.scalar('resources/resident_bytes', step, 2.1e8 + 4e6 * draw.random())
                log.scalar('resources/samples_per_second', step, 51000 + draw.gauss(0, 900))
                log.scalar('resources/cpu_share', step, min(1, 0.93 + draw.gauss(0, 0.02)))
                log.scalar('resources/wait_share', step, abs(draw.gauss(0.02, 0.01)))
        at = (epoch + 1) / epochs
        log.scalar('valid/loss', step,
                   0.34 - 0.02 * seed + 1.3 * math.exp(-6 * at) + 0.05 * at * at)
        log.scalar('valid/accuracy', step, 0.89 - 0.35 * math.exp(-6 * at) + 0.004 * seed)
        for layer, width in (('1.weight', 0.05), ('1.bias', 0.08), ('3.weight', 0.12),
                             ('3.bias', 0.2)):
            spread = width * (1 + 1.5 * at)
            log.histogram('weights/' + layer, step,
                          [draw.gauss(0, spread) + d * 0.2 for d in drift])
            log.histogram('gradients/' + layer, step,
                          [draw.gauss(0, 0.02 * (1.2 - at)) for _ in range(2000)])
        log.add('matrix', step=step, tag='valid/confusion', rows=10, columns=10, names=CLASSES,
                values=confusion(draw, 0.75 + 0.15 * at))
    size = 28
    for tag, count in (('valid/mistakes', 8),):
        pixels = [0] * (size * size * count)
        for n in range(count):
            for y in range(size):
                for x in range(size):
                    inside = abs(x - 14) < 5 + (y * (n + 2)) % 7 and 3 < y < 25
                    value = 60 + (x * 7 + y * 5 + n * 30) % 180 if inside else 0
                    pixels[y * size * count + n * size + x] = value
        log.add('image', step=step, tag=tag, height=size, width=size * count,
                png=png(size, size * count, pixels),
                text='Shirt taken for T-shirt, loss 7.31; Coat taken for Pullover, loss 6.88')
    log.add('text', step=step, tag='summary', text='Linear(784, 512)\nReLU()\nLinear(512, 10)')
    if ended:
        log.add('end', status=ended)
    return log.write()


if __name__ == '__main__':
    SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print(example(sys.argv[1], SEED, lr=0.001 * SEED, ended='' if SEED == 3 else 'stopped'))
