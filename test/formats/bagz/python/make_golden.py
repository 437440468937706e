"""Writes test/golden/bagz by the original library, and what it reads of that: make_golden.py DIRECTORY.

pip install bagz==0.3.8
"""
import hashlib
import json
import os
import shutil
import sys

import bagz

GOLDEN = sys.argv[1]
TAIL, SEPARATE = bagz.LimitsPlacement.TAIL, bagz.LimitsPlacement.SEPARATE
ZSTD = bagz.CompressionZstd


def digest(record):
    return {"content": {"size": len(record), "sha256": hashlib.sha256(record).hexdigest()}}


def case(name, target, spec, files, title, limits=TAIL, compression=None, layout=None, kind="bagz"):
    """Files: lists of records by their names. Spec: what the original library opens."""
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    given = {} if compression is None else {"compression": compression}
    for file, records in files.items():
        path = f"{directory}/{file}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with bagz.Writer(path, bagz.Writer.Options(limits_placement=limits, **given)) as writer:
            for record in records:
                writer.write(record)
    reading = {} if layout is None else {"sharding_layout": layout}
    reader = bagz.Reader(f"{directory}/{spec}", bagz.Reader.Options(limits_placement=limits, **reading))
    facts = {
        "schema": "golden-expect/1",
        "case": f"bagz/{name}",
        "format": "bagz",
        "kind": kind,
        "target": target,
        "title": title,
        "valid": True,
        "content": {"samples": [digest(record) for record in reader.read()]},
    }
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def bytes_of(count, step):
    return bytes((i * step + i // 7) % 256 for i in range(count))


RECORDS = [b"", b"abcdef", b"123", b"", bytes_of(3000, 7), bytes(70_000), b"catcat", bytes_of(50, 3), b""]
# The first limit is 0, as in a bag of generation 1: only the format tells.
case("compressed", "data.bagz", "data.bagz", {"data.bagz": RECORDS}, "compressed records")
case("separate", "data.bagz", "data.bagz", {"data.bagz": RECORDS}, "compressed records, limits of their own", SEPARATE)
case("plain_separate", "data.bag", "data.bag", {"data.bag": RECORDS}, "records, limits of their own", SEPARATE)
case("levels", "data.bagz", "data.bagz", {"data.bagz": RECORDS}, "strongly compressed", compression=ZSTD(level=19))
case("empty", "none.bagz", "none.bagz", {"none.bagz": []}, "no records")
case("all_empty", "data.bagz", "data.bagz", {"data.bagz": [b""] * 3}, "empty records only")
SHARDS = [RECORDS[1:5], [], RECORDS[5:8]]
case(
    "shards",
    "data",
    "data/x@3.bagz",
    {f"data/x-0000{i}-of-00003.bagz": records for i, records in enumerate(SHARDS)},
    "shards, one without records",
)
case(
    "plain_shards",
    "data",
    "data/x@3.bag",
    {f"data/x-0000{i}-of-00003.bag": records for i, records in enumerate(SHARDS)},
    "shards that are not compressed",
)
case(
    "interleaved",
    "data",
    "data/x@2.bagz",
    {f"data/x-0000{i}-of-00002.bagz": RECORDS[i::2] for i in range(2)},
    "shards with records by turns",
    layout=bagz.ShardingLayout.INTERLEAVED,
    kind="bagz-interleaved",
)
