"""Writes test/golden/lmdb by Python's lmdb: make_golden.py DIRECTORY.

What each database holds is told by lmdb, from another environment than the one that wrote it.
"""
import hashlib
import json
import os
import random
import struct
import sys

import lmdb

GOLDEN = os.path.abspath(sys.argv[1])
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"
WEBP = b"RIFF\x10\x00\x00\x00WEBPVP8 "


def environment(name, target, **options):
    os.makedirs(f"{GOLDEN}/{name}", exist_ok=True)
    return lmdb.open(f"{GOLDEN}/{name}/{target}", map_size=1 << 30, **options)


def values(path, names):
    """All keys and values, in the order of cursors: of the main database, then of the named ones."""
    found = []
    with lmdb.open(
        path, readonly=True, lock=False, subdir=os.path.isdir(path), max_dbs=100
    ) as env:
        with env.begin() as txn:
            for name in [None, *sorted(names)]:
                db = env.open_db(name, txn, create=False) if name else None
                for key, value in txn.cursor(db):
                    if name is None and key in names:
                        continue
                    found.append(
                        {
                            "database": name.decode() if name else "",
                            "key": key.hex(),
                            "size": len(value),
                            "sha256": hashlib.sha256(value).hexdigest(),
                        }
                    )
    return found


def expect(name, target, title, paths, names=()):
    """paths: names of files in the order of values, as docs/formats/lmdb.md says."""
    directory = f"{GOLDEN}/{name}"
    for file in [f"{directory}/{target}-lock", f"{directory}/{target}/lock.mdb"]:
        if os.path.exists(file):
            os.remove(file)
    entries = values(f"{directory}/{target}", names)
    assert len(entries) == len(paths), (name, len(entries), len(paths))
    for entry, path in zip(entries, paths):
        entry["path"] = path
    facts = {
        "schema": "golden-expect/1",
        "case": f"lmdb/{name}",
        "format": "lmdb",
        "kind": "lmdb",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"entries": entries},
    }
    with open(f"{directory}/expect.json", "w") as file:
        text = json.dumps(facts)
        file.write(text.replace('{"database"', '\n{"database"') + "\n")


def caffe():
    """As convert_imageset of Caffe: keys of a number and a path, in a directory."""
    keys = [b"%08d_n%d/a.jpg" % (i, i % 3) for i in range(40)]
    with environment("caffe", "train_lmdb") as env, env.begin(write=True) as txn:
        for i, key in enumerate(keys):
            txn.put(key, b"\x08\x03" + bytes([i]) * (40 * i))
    paths = [key.decode().replace("/", "%2F") for key in keys]
    expect("caffe", "train_lmdb", "keys with slashes, in a directory", paths)


def lsun():
    """As LSUN: pictures by hashes."""
    dice = random.Random(1)
    keys = sorted(
        hashlib.sha1(b"%d" % i).hexdigest().encode() for i in range(12)
    )
    with environment("lsun", "bridge_val_lmdb") as env, env.begin(write=True) as txn:
        for key in dice.sample(keys, len(keys)):
            txn.put(key, WEBP + dice.randbytes(dice.randint(1, 6000)))
    paths = [f"{key.decode()}.webp" for key in keys]
    expect("lsun", "bridge_val_lmdb", "pictures on overflow pages", paths)


def pairs():
    """As data of text recognition: pictures and labels by numbered keys, and how many there are."""
    dice = random.Random(5)
    with environment("pairs", "data") as env, env.begin(write=True) as txn:
        for i in range(1, 9):
            size = dice.choice([100, 4000])
            txn.put(b"image-%09d" % i, JPEG + dice.randbytes(size))
            txn.put(b"label-%09d" % i, b"label %d" % i)
        txn.put(b"num-samples", b"8")
        txn.put(b"label-extra.jpg", b"no picture")
    images = [f"image-{i:09}.jpg" for i in range(1, 9)]
    labels = [f"label-{i:09}" for i in range(1, 9)]
    paths = [*images, *labels, "label-extra.jpg.jpg", "num-samples"]
    expect("pairs", "data", "pictures and labels", paths)


def one_file():
    """As image folders of PyTorch users: one file, numbers as keys, and a count under a key of its own."""
    dice = random.Random(2)
    with environment("one_file", "x.lmdb", subdir=False) as env:
        with env.begin(write=True) as txn:
            for i in range(30):
                txn.put(b"%08d" % i, dice.randbytes(dice.choice([0, 1, 9, 3000])))
            txn.put(b"__len__", b"30")
    paths = [*(f"{i:08}" for i in range(30)), "__len__"]
    expect("one_file", "x.lmdb", "a single file", paths)


def rewritten():
    """Deleted and replaced keys in several transactions: pages are free or were used again."""
    dice = random.Random(3)
    left = {}
    with environment("rewritten", "x.lmdb", subdir=False) as env:
        for round in range(6):
            with env.begin(write=True) as txn:
                for i in range(40):
                    key = b"key %03d" % dice.randrange(80)
                    left[key] = dice.randbytes(dice.choice([10, 300, 2500]))
                    txn.put(key, left[key])
                for key in dice.sample(sorted(left), 20):
                    txn.delete(key)
                    del left[key]
    paths = [key.decode() for key in sorted(left)]
    expect("rewritten", "x.lmdb", "deleted and replaced keys", paths)


def named():
    """Named databases, one of them empty, and one with pictures; and a value beside them."""
    dice = random.Random(4)
    with environment("named", "data", max_dbs=4) as env:
        images = env.open_db(b"images")
        labels = env.open_db(b"la/bels")
        env.open_db(b"none")
        with env.begin(write=True) as txn:
            txn.put(b"version", b"2")
            for i in range(20):
                txn.put(b"%05d" % i, JPEG + dice.randbytes(3000), db=images)
                txn.put(b"%05d" % i, b"%d" % (i % 3), db=labels)
    paths = [
        "version",
        *(f"images/{i:05}.jpg" for i in range(20)),
        *(f"la%2Fbels/{i:05}" for i in range(20)),
    ]
    names = [b"images", b"la/bels", b"none"]
    expect("named", "data", "named databases", paths, names)


def duplicates():
    """Several values of a key: few in the leaf, many in a tree of their own, and of a fixed size."""
    with environment("duplicates", "data", max_dbs=4) as env:
        texts = env.open_db(b"texts", dupsort=True)
        fixed = env.open_db(b"fixed", dupsort=True, dupfixed=True)
        paths = []
        with env.begin(write=True) as txn:
            for name, db, value, many in [
                ("fixed", fixed, lambda i: struct.pack(">I", i), 600),
                ("texts", texts, lambda i: b"value %03d" % i, 150),
            ]:
                for key, count in [("few", 3), ("many", many), ("one", 1)]:
                    for i in range(count):
                        txn.put(key.encode(), value(i), db=db)
                        paths.append(f"{name}/{key}/{i:06}")
    expect("duplicates", "data", "several values of a key", paths, [b"fixed", b"texts"])


def integers():
    """Keys that are integers: of the machine's byte order, and packed as struct's `>I` and `>Q`."""
    numbers = [0, 1, 2, 255, 256, 65_536, 16_000_000]
    with environment("integers", "data", max_dbs=4) as env:
        native = env.open_db(b"native", integerkey=True)
        wide = env.open_db(b"packed 8")
        narrow = env.open_db(b"packed 4")
        with env.begin(write=True) as txn:
            for n in reversed(numbers):
                text = b"%d" % n
                txn.put(struct.pack("=Q", n), text, db=native)
                txn.put(struct.pack(">Q", n), text, db=wide)
                txn.put(struct.pack(">I", n), text, db=narrow)
    names = ["native", "packed 4", "packed 8"]
    paths = [f"{name}/{n}" for name in names for n in numbers]
    expect("integers", "data", "integers as keys", paths, [n.encode() for n in names])


def odd_keys():
    """Keys that are no names of files, or not UTF-8."""
    keys = [b".", b"..", b"a\0b", b"a/b", b"a%2Fb", b"\xff\xfe", "ü".encode(), b"x" * 255]
    with environment("odd_keys", "x.lmdb", subdir=False) as env:
        with env.begin(write=True) as txn:
            for key in keys:
                txn.put(key, b"value of " + key)
    shown = {b".": "%2E", b"..": "%2E%2E", b"a\0b": "a%00b", b"a/b": "a%2Fb"}
    shown |= {b"a%2Fb": "a%252Fb", b"\xff\xfe": "\udcff\udcfe"}
    paths = [shown.get(key) or key.decode() for key in sorted(keys)]
    expect("odd_keys", "x.lmdb", "keys that are no names", paths)


def long_keys():
    """Long keys, few of which fit a page."""
    keys = [(b"%06d " % i).ljust(250, b".") for i in range(60)]
    with environment("long_keys", "x.lmdb", subdir=False) as env:
        with env.begin(write=True) as txn:
            for key in keys:
                txn.put(key, key[:6])
    expect("long_keys", "x.lmdb", "a tree of two levels", [key.decode() for key in keys])


def empty():
    with environment("empty", "data"):
        pass
    expect("empty", "data", "an empty database", [])


for make in [
    caffe, lsun, pairs, one_file, rewritten, named, duplicates, integers, odd_keys, long_keys, empty
]:
    make()
