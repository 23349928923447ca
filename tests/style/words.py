# SPDX-License-Identifier: Apache-2.0
"""Identifiers and file names use the field's words, in the components that DONE lists."""
import os
import re

from tree import Finding, Source, walk

# A component joins when its names are mended.
DONE = ('base', 'device', 'tensor', 'autograd', 'ops', 'state', 'io', 'data', 'nn', 'models',
        'optim', 'parallel', 'train', 'cpu', 'cuda')
SUFFIXES = ('.c', '.h', '.cpp', '.cu', '.cuh', '.def')

# Parts of an identifier between underscores, whatever their case, and the word to use.
WORDS = (
    ('answer|ask|asked|said|say|says|tell|telling|told|untold', 'report, query or result'),
    ('aside', 'detached'),
    ('bare', 'unprefixed or stripped'),
    ('carve|carved', 'partition'),
    ('fold|folded|folds', 'reduce'),
    ('front|fronts', 'function'),
    ('least', 'min'),
    ('lost', 'what is lost'),
    ('meet|meets', 'match or promote'),
    ('memo', 'copied map'),
    ('most', 'max'),
    ('piece|pieces', 'chunk, tile, task, shard or slice'),
    ('place|places', 'index, offset, position or slot'),
    ('relax', 'cpu_pause'),
    ('room|rooms', 'scratch, capacity or space'),
    ('settle|settled', 'finalize or canonicalize'),
    ('shadow', 'replica'),
    ('site|sites', 'location'),
    ('stranger', 'unrecognized_format'),
    ('turned', 'transposed'),
    ('widened', 'upcast'),
)
# Whole identifiers, and file names without their suffix.
NAMES = (
    (r'tern_(\w+_)?hold(_\w+)?', 'retain'),
    (r'tern_(\w+_)?drop(_\w+)?', 'release'),
    (r'(?i:smaller|larger)', 'min_int64 or max_int64'),
)
FILES = (
    ('affine|alive|difference|fused|reduced|sentence', 'the subject'),
)
# Words with another meaning: C's own, a field's, a formula's.
KNOWN = {'tern_dropout', 'front'}
_PICKLE = re.compile(r'(?i:(tern_pickle_)?memo(_get|_set)?)')  # Python's pickle has a memo

_IDENTIFIER = re.compile(r'\b[A-Za-z_]\w*\b')
_PART = [(re.compile(f'(?:^|_)(?:{words})(?:_|$)', re.I), say) for words, say in WORDS]
_NAME = [(re.compile(words), say) for words, say in NAMES]
_FILE = [(re.compile(words), say) for words, say in FILES]


def better(name):
    """The word to use for one in the name, or None."""
    if name in KNOWN or _PICKLE.fullmatch(name):
        return None
    for pattern, say in _PART:
        if pattern.search(name):
            return say
    return next((say for pattern, say in _NAME if pattern.fullmatch(name)), None)


def file_fault(path):
    stem = os.path.basename(path).split('.')[0]
    say = better(stem) or next((say for words, say in _FILE if words.fullmatch(stem)), None)
    return Finding(path, 1, f'`{stem}`: say {say}') if say else None


def check_file(root, path):
    fault = file_fault(path)
    findings = [fault] if fault else []
    source = Source(root, path)
    seen = set()
    for match in _IDENTIFIER.finditer(source.code):
        name = match.group()
        say = None if name in seen else better(name)
        seen.add(name)
        if say:
            findings.append(source.finding(source.line_at(match.start()), f'`{name}`: say {say}'))
    return findings


def check(root):
    paths = [path for path in walk(root, ('src',))
             if path.split('/')[1] in DONE and path.endswith(SUFFIXES)]
    findings = [finding for path in paths for finding in check_file(root, path)]
    return f'{len(paths)} files of {len(DONE)} components', len(paths), findings
