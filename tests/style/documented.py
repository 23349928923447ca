# SPDX-License-Identifier: Apache-2.0
"""Every symbol of the public headers says what it is.

What a header's opening says for all its calls (who owns results, how they fail, the thread rule), a
function need not say again; what it does not say, each function says.
"""
import re

from public import headers

OWNER = re.compile(r'\b(own|owned|owns|belongs?|temporary|temporaries|freed?|frees|holds?|borrowed|'
                   r'reference|[Rr]eturns|[Ss]tatic storage|itself|stays)\b')
FAILURE = re.compile(r'TERN_ERR_|TERN_OK|NULL|\b([Ff]ails?|[Ff]ailed|[Ff]ailure|errors?)\b')
THREADS = re.compile(r'\b[Tt]hread')


def has_words(symbol):
    """Is there something to read? A field's range is enough, a function takes a phrase."""
    words = re.findall(r'\w+', symbol.comment)
    return bool(words) and (symbol.kind != 'function' or len(words) > 1)


def silent_about(symbol, opening):
    """What neither the function nor the opening of its header says."""
    said = f'{opening} {symbol.comment}'
    returns_pointer = '*' in symbol.result
    returns_status = re.search(r'\btern_status\b', symbol.result)
    if returns_pointer and not OWNER.search(said):
        yield 'who owns the result'
    if (returns_pointer or returns_status) and not FAILURE.search(said):
        yield 'how it fails'
    if not THREADS.search(said):
        yield 'which threads may call it'


def faults_of(header):
    opening = header.opening()
    if len(opening.split()) < 5:
        yield header.finding(1, 'no opening: "/// @file" and what the subject is')
    symbols = list(header.symbols())
    told = {symbol.name for symbol in symbols if symbol.kind == 'macro' and has_words(symbol)}
    for symbol in symbols:
        if symbol.kind == 'macro' and symbol.name in told:
            continue  # one side of an #if speaks for both
        if not has_words(symbol):
            yield header.finding(symbol.line, f'{symbol.kind} {symbol.name} is not documented: say '
                                              'it in /// above or ///< behind')
        elif symbol.kind == 'function':
            for what in silent_about(symbol, opening):
                yield header.finding(symbol.line, f'neither {symbol.name} nor the opening of the '
                                                  f'header says {what}')


def check(root):
    count, findings = 0, []
    for header in headers(root):
        count += len(list(header.symbols()))
        findings += faults_of(header)
    return f'{count} symbols', count, findings
