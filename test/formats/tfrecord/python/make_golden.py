"""Writes test/golden/tfrecord from the specifications alone: make_golden.py DIRECTORY.

Framing: tensorflow.org/tutorials/load_data/tfrecord. CRC-32C: RFC 3720, a bit at a time. Messages:
tensorflow/core/example/{example,feature}.proto, by protobuf.dev/programming-guides/encoding.
"""
import hashlib
import json
import os
import shutil
import struct
import sys

GOLDEN = sys.argv[1]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(record):
    length = struct.pack("<Q", len(record))
    return length + masked(length) + record + masked(record)


def varint(number):
    number &= 2**64 - 1
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def feature(kind, values, packed=True):
    if kind == "bytes":
        return field(1, b"".join(field(1, value) for value in values))
    if kind == "float":
        if packed:
            return field(2, field(1, b"".join(struct.pack("<f", value) for value in values)))
        return field(2, b"".join(varint(1 << 3 | 5) + struct.pack("<f", value) for value in values))
    if packed:
        return field(3, field(1, b"".join(map(varint, values))))
    return field(3, b"".join(varint(1 << 3) + varint(value) for value in values))


def entries(named, make):
    return b"".join(field(1, field(1, key.encode()) + field(2, make(value))) for key, value in named.items())


def features(named):
    return entries(named, lambda value: feature(*value))


def example(named):
    return field(1, features(named))


def sequence_example(context, lists):
    steps = lambda values: b"".join(field(1, feature(*value)) for value in values)
    return field(1, features(context)) + field(2, entries(lists, steps))


def shown(kind, values, *_):
    if kind == "bytes":
        return {"kind": kind, "values": [value.hex() for value in values]}
    if kind == "int64":
        return {"kind": kind, "values": [str(value) for value in values]}
    return {"kind": kind, "values": [struct.unpack("<f", struct.pack("<f", value))[0] for value in values]}


def named(values):
    return {key: shown(*value) for key, value in values.items()}


def case(name, target, files, title, examples=None):
    """Files: lists of records by their names; one that is not in a directory is the target itself."""
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    records = []
    for file, content in files.items():
        path = f"{directory}/{file}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            offset = 0
            for record in content:
                out.write(framed(record))
                records.append(
                    {
                        "file": file,
                        "offset": offset + 12,
                        "size": len(record),
                        "sha256": hashlib.sha256(record).hexdigest(),
                    }
                )
                offset += len(record) + 16
    facts = {
        "schema": "golden-expect/1",
        "case": f"tfrecord/{name}",
        "format": "tfrecord",
        "kind": "tfrecord",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"records": records, **({} if examples is None else {"examples": examples})},
    }
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def bytes_of(count, step):
    return bytes((i * step + i // 7) % 256 for i in range(count))


case(
    "records",
    "plain.tfrecord",
    {"plain.tfrecord": [b"", b"one", bytes(1), bytes_of(3000, 7), b"\x0a\xff", bytes_of(20_000, 11), b"last"]},
    "records of any bytes",
)
case("empty", "none.tfrecord", {"none.tfrecord": []}, "no records")


def picture(i):
    return {
        "image/encoded": ("bytes", [bytes_of(400 + i, i + 1)]),
        "image/class/label": ("int64", [i]),
        "image/class/text": ("bytes", [f"class {i}".encode()]),
        "image/object/bbox": ("float", [i / 10, -i, 1e-7, 3.5e30]),
        "image/object/names": ("bytes", [b"a" * k for k in range(i % 3 + 2)]),
        "image/size": ("int64", [480, -1, 2**63 - 1, -(2**63), 2**53 + 1]),
        "unpacked/ints": ("int64", [3, -4], False),
        "unpacked/floats": ("float", [0.5, 2.25], False),
        "none": ("bytes", []),
        "image": ("bytes", [b"in the way of the others"]) if i == 5 else ("bytes", [b"1", b"2"]),
        "..": ("bytes", [b"up"]),
        "a//b": ("bytes", [b"no name between"]),
        "": ("bytes", [b"no name"]),
        "clash": ("int64", [1]),
        "clash.json": ("bytes", [b"mine"]),
    }


# A file 'image' would be in the way of the directory: only the sixth record has both.
pictures = [picture(i) for i in range(8)]
for i, one in enumerate(pictures):
    if i != 5:
        del one["image"]
case(
    "examples",
    "pictures.tfrecord",
    {"pictures.tfrecord": [example(one) for one in pictures]},
    "examples of all kinds of features",
    [{"features": named(one), "lists": {}} for one in pictures],
)

sequences = [
    (
        {"length": ("int64", [i]), "id": ("bytes", [f"v{i}".encode()])},
        {
            "frames": [("bytes", [bytes_of(50 + k, 3)]) for k in range(i)],
            "scores": [("float", [k / 4]) for k in range(i)],
            "words": [("bytes", [b"x", b"y"]), ("int64", [1, 2, 3])],
        },
    )
    for i in range(4)
]
case(
    "sequences",
    "videos.tfrecords",
    {"videos.tfrecords": [sequence_example(*one) for one in sequences]},
    "sequence examples",
    [
        {"features": named(context), "lists": {key: [shown(*step) for step in steps] for key, steps in lists.items()}}
        for context, lists in sequences
    ],
)

shards = [[{"label": ("int64", [10 * s + k]), "text": ("bytes", [f"{s}.{k}".encode()])} for k in range(n)] for s, n in enumerate([3, 0, 4])]
case(
    "shards",
    "data",
    {f"data/train-{s:05}-of-00003": [example(one) for one in shard] for s, shard in enumerate(shards)},
    "three shards, one without records",
    [{"features": named(one), "lists": {}} for shard in shards for one in shard],
)
