# SPDX-License-Identifier: Apache-2.0
"""Reads the files of a logger strictly: whatever is not as it should be raises.

Event files are read without TensorBoard: records with their checksums, and as much of protobuf as
there is in them. Lines of log.jsonl are checked by docs/log.schema.json, of which `Schema` knows
the words that it uses.
"""
import csv
import io
import json
import re
import struct
from pathlib import Path


class Torn(Exception):
    """A file ends within an entry, as a kill leaves it; `entries` are those before."""

    def __init__(self, entries):
        super().__init__()
        self.entries = entries


# ---- event files --------------------------------------------------------------------------------

def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def places(data):
    """(where it begins, bytes) of each record, as far as they are whole."""
    found, at = [], 0
    while len(data) - at >= 12:
        size = struct.unpack_from('<Q', data, at)[0] + 16
        if len(data) - at < size:
            break
        found.append((at, size))
        at += size
    return found


def records(data):
    """The bytes of each record."""
    found, end = [], 0
    for at, size in places(data):
        body, end = data[at + 12:at + size - 4], at + size
        assert struct.unpack_from('<I', data, at + 8)[0] == masked_crc(data[at:at + 8]), \
            f'checksum of the length at byte {at}'
        assert struct.unpack_from('<I', data, end - 4)[0] == masked_crc(body), \
            f'checksum of the record at byte {at}'
        found.append(body)
    if end < len(data):
        if len(data) - end >= 12:
            assert struct.unpack_from('<I', data, end + 8)[0] == masked_crc(data[end:end + 8]), \
                f'checksum of the length at byte {end}'
        raise Torn(found)
    return found


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field of a message: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            assert kind in (1, 2, 5), f'wire type {kind}'
            length, at = varint(data, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value = data[at:at + length]
            assert len(value) == length, 'a field ends behind its message'
            at += length
        yield key >> 3, value


def only(data, number):
    """The one value of a field; None where there is none."""
    values = [value for field, value in fields(data) if field == number]
    assert len(values) <= 1, f'field {number} is there {len(values)} times'
    return values[0] if values else None


def event_of(data):
    """A dictionary: time, step, and version, purge or tag with kind and value."""
    event = {'time': struct.unpack('<d', only(data, 1))[0], 'step': only(data, 2) or 0}
    summary, version, session = only(data, 5), only(data, 3), only(data, 7)
    if version is not None:
        event['version'] = version.decode()
    if session is not None:
        assert only(session, 1) == 1, 'a session that does not start'
        event['purge'] = event['step']
    if summary is not None:
        value = only(summary, 1)
        event['tag'] = only(value, 1).decode()
        for number, name in ((2, 'scalar'), (4, 'image'), (5, 'histogram'), (8, 'tensor'),
                             (9, 'metadata')):
            if only(value, number) is not None:
                event[name] = only(value, number)
        if 'scalar' in event:
            event['scalar'] = struct.unpack('<f', event['scalar'])[0]
    assert len(event) > 2, 'an event without contents'
    return event


def read_events(path):
    """The events of a file; raises Torn with them."""
    torn = False
    try:
        found = records(Path(path).read_bytes())
    except Torn as tear:
        torn, found = True, tear.entries
    events = [event_of(record) for record in found]
    if events:
        assert events[0].get('version') == 'brain.Event:2', f'{path} has no version'
    for before, after in zip(events, events[1:]):
        assert before['time'] <= after['time'], f'time goes back in {path}'
    if torn:
        raise Torn(events)
    return events


def event_files(folder):
    return sorted(Path(folder).glob('events.out.tfevents.*'))


def after_purges(files):
    """What a reader keeps of the events of several files."""
    kept = []
    for events in files:
        for event in events:
            if 'purge' in event:
                kept = [old for old in kept if old['step'] < event['purge']]
            elif 'tag' in event:
                kept.append(event)
    return kept


# ---- lines --------------------------------------------------------------------------------------

class Schema:
    """The words of JSON Schema that docs/log.schema.json uses; another one raises."""
    TYPES = {'object': dict, 'array': list, 'string': str, 'null': type(None)}
    SILENT = {'$schema', '$id', '$defs', 'title', 'description', 'contentEncoding',
              'contentMediaType'}

    def __init__(self, path):
        self.root = json.loads(Path(path).read_text(encoding='utf-8'))

    def has_type(self, value, name):
        if name == 'boolean':
            return isinstance(value, bool)
        if name in ('number', 'integer'):
            return not isinstance(value, bool) and isinstance(
                value, int if name == 'integer' else (int, float))
        return isinstance(value, self.TYPES[name])

    def faults(self, value, schema=None, at='line'):
        """Sentences that say what is wrong."""
        schema = self.root if schema is None else schema
        for word, what in schema.items():
            if word in self.SILENT:
                continue
            yield from getattr(self, 'word_' + word.replace('$', ''))(value, what, schema, at)

    def word_ref(self, value, what, _, at):
        yield from self.faults(value, self.root['$defs'][what.removeprefix('#/$defs/')], at)

    def word_oneOf(self, value, what, _, at):
        every = [list(self.faults(value, schema, at)) for schema in what]
        if sum(not faults for faults in every) != 1:
            yield f'{at}: fits {sum(not faults for faults in every)} kinds: {min(every, key=len)}'

    def word_type(self, value, what, _, at):
        names = what if isinstance(what, list) else [what]
        if not any(self.has_type(value, name) for name in names):
            yield f'{at} is {value!r}, no {names}'

    def word_const(self, value, what, _, at):
        if value != what:
            yield f'{at} is {value!r}, not {what!r}'

    def word_enum(self, value, what, _, at):
        if value not in what:
            yield f'{at} is {value!r}, not of {what!r}'

    def word_required(self, value, what, _, at):
        for name in what:
            if isinstance(value, dict) and name not in value:
                yield f'{at} has no {name}'

    def word_properties(self, value, what, _, at):
        for name, schema in what.items():
            if isinstance(value, dict) and name in value:
                yield from self.faults(value[name], schema, f'{at}.{name}')

    def word_additionalProperties(self, value, what, schema, at):
        for name in value if isinstance(value, dict) else ():
            if name not in schema.get('properties', {}):
                if what is False:
                    yield f'{at}.{name} is one too many'
                else:
                    yield from self.faults(value[name], what, f'{at}.{name}')

    def word_items(self, value, what, _, at):
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from self.faults(item, what, f'{at}[{i}]')

    def word_minItems(self, value, what, _, at):
        if isinstance(value, list) and len(value) < what:
            yield f'{at} has {len(value)} items'

    def word_minLength(self, value, what, _, at):
        if isinstance(value, str) and len(value) < what:
            yield f'{at} is too short'

    def word_maxLength(self, value, what, _, at):
        if isinstance(value, str) and len(value) > what:
            yield f'{at} is too long'

    def word_minimum(self, value, what, _, at):
        if isinstance(value, (int, float)) and value < what:
            yield f'{at} is {value}, less than {what}'

    def word_maximum(self, value, what, _, at):
        if isinstance(value, (int, float)) and value > what:
            yield f'{at} is {value}, more than {what}'


def strict_json(text):
    def refuse(word):
        raise ValueError(f'{word} is no JSON')

    def pairs(items):
        assert len({name for name, _ in items}) == len(items), f'a name is there twice: {text}'
        return dict(items)
    return json.loads(text, parse_constant=refuse, object_pairs_hook=pairs)


def whole_lines(path):
    """(lines, whether the end is torn)."""
    text = Path(path).read_bytes()
    *lines, rest = text.split(b'\n')
    return [line.decode('utf-8') for line in lines], rest != b''


def read_lines(path, schema):
    """The objects of log.jsonl; raises Torn with them."""
    lines, torn = whole_lines(path)
    found, last, kinds = [], 0, {}
    for number, line in enumerate(lines, 1):
        value = strict_json(line)
        faults = list(schema.faults(value))
        assert not faults, f'{path}:{number}: {faults}'
        assert value['time'] >= last, f'{path}:{number}: time goes back'
        last = value['time']
        if 'tag' in value:
            assert kinds.setdefault(value['tag'], value['kind']) == value['kind'], \
                f'{path}:{number}: {value["tag"]} has two kinds'
        found.append(value)
    if torn:
        raise Torn(found)
    return found


ROW = re.compile(r'\d+\.\d{6},\d+,(?:[^",]+|"(?:[^"]|"")+"),(?:nan|-?inf|-?\d\S*)')


def read_csv(path):
    """(time, step, tag, value) of each row of log.csv; raises Torn with them."""
    lines, torn = whole_lines(path)
    if lines:
        assert lines[0] == 'time,step,tag,value', lines[0]
    for line in lines[1:]:
        assert ROW.fullmatch(line), line
    rows = [(float(time), int(step), tag, float(value))
            for time, step, tag, value in csv.reader(io.StringIO('\n'.join(lines[1:])))]
    for before, after in zip(rows, rows[1:]):
        assert before[0] <= after[0], f'time goes back in {path}'
    if torn:
        raise Torn(rows)
    return rows
