"""Writes a dataset from JSON on stdin, as the description of the format has it.

usage: write_dataset.py GENERATION DIRECTORY
stdin: {"spec": {key: type}, "datapoints": [{key: hex or [hex]}]}
"""
import json
import pathlib
import struct
import sys


def number(value):
    if value < 0x80:
        return struct.pack('>B', value)
    if value < 0x100:
        return struct.pack('>BB', 0xcc, value)
    if value < 0x10000:
        return struct.pack('>BH', 0xcd, value)
    return struct.pack('>BI', 0xce, value)


def array(items):
    head = bytes([0x90 | len(items)]) if len(items) < 16 \
        else struct.pack('>BH', 0xdc, len(items))
    return head + b''.join(items)


def write_bag(path, records, generation):
    ends = [0]
    for record in records:
        ends.append(ends[-1] + len(record))
    numbers = ends if generation == 1 else ends[1:]
    index = b''.join(struct.pack('<Q', end) for end in numbers)
    data = b''.join(records)
    if generation == 3:
        path.write_bytes(data)
        path.with_suffix('.idx').write_bytes(index)
    else:
        path.write_bytes(data + index)


generation, directory = int(sys.argv[1]), pathlib.Path(sys.argv[2])
content = json.load(sys.stdin)
directory.mkdir()
spec = dict(sorted(content['spec'].items()))
(directory / 'spec.json').write_text(json.dumps(spec))
records = {key: [] for key in spec}
refs = []
for datapoint in content['datapoints']:
    row = []
    for key in spec:
        value, own = datapoint[key], records[key]
        values = value if isinstance(value, list) else [value]
        first = len(own)
        own.extend(bytes.fromhex(item) for item in values)
        if not isinstance(value, list):
            row.append(number(first))
        elif values:
            row.append(array([number(first), number(len(values))]))
        else:
            row.append(array([]))
    refs.append(array(row))
for key, own in records.items():
    write_bag(directory / f'{key}.bag', own, generation)
if generation < 3:
    write_bag(directory / 'refs.bag', refs, generation)
