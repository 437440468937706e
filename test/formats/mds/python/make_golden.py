"""Writes test/golden/mds from the description of the format alone: make_golden.py DIRECTORY."""
import decimal
import hashlib
import json
import os
import shutil
import struct
import sys
import zlib

import mds
import numpy as np

GOLDEN = sys.argv[1]
PICTURE, OTHER = (open(f"{GOLDEN}/../pictures/{name}.jpg", "rb").read() for name in ("gray", "420"))
SIZES = {picture: np.load(f"{GOLDEN}/../pictures/{name}.npy").shape[1::-1] for picture, name in ((PICTURE, "gray"), (OTHER, "420"))}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, grey):
    rows = b"".join(b"\0" + bytes([grey]) * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pixels(width, height, mode, raw):
    """What Pillow's picture would become as an array."""
    if mode == "1":
        rows = np.frombuffer(raw, np.uint8).reshape(height, -1)
        return np.unpackbits(rows, axis=1)[:, :width].astype(bool)
    dtype, shape = {"RGB": ("u1", (height, width, 3)), "L": ("u1", (height, width)), "I;16": ("<u2", (height, width))}[mode]
    return np.frombuffer(raw, dtype).reshape(shape)


def element(encoding, value):
    """One of a list's: its bytes, and bare pixels, or how many a picture has."""
    data = mds.encode(encoding, value)
    if encoding == "pil":
        inside = shown(encoding, pixels(*value))
    else:
        width, height = struct.unpack(">II", value[16:24]) if encoding == "png" else SIZES[value]
        inside = {"width": width, "height": height}
    return {"encoding": encoding, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "value": inside}


def shown(encoding, value):
    """What a reader has to give: numbers as text, arrays by their elements."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": list(value.shape), "values": [str(item) for item in value.ravel().tolist()]}
    if encoding in mds.LISTS:
        return {"list": [element(mds.LISTS[encoding][0], one) for one in value]}
    if encoding.split(":")[0] in mds.NUMBERS:
        return str(np.array(value, mds.NUMBERS[encoding.split(":")[0]]).item())
    if encoding in ("str", "str_int", "str_float", "str_decimal"):
        return str(value)
    if encoding in ("json", "pkl"):
        return {"json": value}
    return None


def case(name, title, datasets, target="data", index=None):
    """Datasets: (directory, columns, samples, options) each; index puts their indexes into one."""
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    samples = []
    for below, columns, rows, options in datasets:
        writer = mds.Writer(f"{directory}/{below}", columns, **options)
        for row in rows:
            writer.write(row)
            sample = {}
            for column, encoding in sorted(columns.items()):
                data = mds.encode(encoding, row[column])
                sample[column] = {
                    "encoding": encoding,
                    "size": len(data),
                    "sha256": hashlib.sha256(data).hexdigest(),
                    "value": shown(encoding, row[column]),
                }
            samples.append(sample)
        writer.close()
    if index is not None:
        shards = []
        for below, *_ in datasets:
            with open(f"{directory}/{below}/index.json") as file:
                for shard in json.load(file)["shards"]:
                    for kind in ("raw_data", "zip_data"):
                        if shard[kind]:
                            shard[kind]["basename"] = f"{below[len(target) + 1:]}/{shard[kind]['basename']}"
                    shards.append(shard)
            os.remove(f"{directory}/{below}/index.json")
        with open(f"{directory}/{target}/index.json", "w") as file:
            json.dump({"version": 2, "shards": shards}, file, sort_keys=True)
    facts = {
        "schema": "golden-expect/1",
        "case": f"mds/{name}",
        "format": "mds",
        "kind": "mds",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"samples": samples},
    }
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


PLAIN = {"image": "jpeg", "label": "int", "name": "str", "raw": "bytes"}


def plain(i):
    return {"image": PICTURE, "label": i, "name": f"näme {i}", "raw": bytes((i * k) % 256 for k in range(i * 37))}


case("plain", "pictures and labels in two shards", [("data", PLAIN, map(plain, range(7)), {"per_shard": 4, "hashes": ["sha1", "md5"]})])

EVERY = {
    **{f"a_{name}": name for name in mds.NUMBERS},
    "any": "ndarray",
    "typed": "ndarray:float32",
    "fixed": "ndarray:int16:2,3",
    "wide": "ndarray:uint8",
    "bare": "pil",
    "bits": "pil",
    "depth": "pil",
    "picture": "png",
    "quality": "jpeg:90",
    "tree": "json",
    "plain": "pkl",
    "digits": "str_int",
    "real": "str_float",
    "exact": "str_decimal",
    "..": "bytes",
    "a/b.txt": "str",
    "clash": "str",
    "clash.txt": "bytes",
    "": "bytes",
}


def every(i):
    numbers = {}
    for name, dtype in mds.NUMBERS.items():
        if dtype.kind == "f":
            numbers[f"a_{name}"] = [0.5, -2.25, float("inf")][i]
        else:
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            numbers[f"a_{name}"] = [int(least), int(most), 1][i]
    dtypes = ["float64", "uint16", "int8"]
    return {
        **numbers,
        "any": np.arange(6 + i, dtype=dtypes[i]).reshape([(1, 2, 3), (7,), (2, 4)][i]),
        "typed": np.array([[i, 0.5], [-1, 3e30]], "float32"),
        "fixed": np.arange(6, dtype="int16").reshape(2, 3) - i,
        "wide": np.full((300, 2 + i), i, "uint8"),
        "bare": (3, 2, "RGB", bytes(range(i, i + 18))),
        "bits": (10, 2, "1", bytes([0b10110000, 0b01000000, 0b00000001 + i, 0b10000000])),
        "depth": (2, 2, "I;16", struct.pack("<4H", 1, 2, 300, 65535 - i)),
        "picture": png(4, 3, 10 * i),
        "quality": PICTURE,
        "tree": [{"a": [1, 2.5, None]}, "text", {"b": True}][i],
        "plain": [{"a": [1, 2]}, ["x", None], 7][i],
        "digits": [10**30, -5, 0][i],
        "real": [0.1, float("nan"), 1e300][i],
        "exact": decimal.Decimal(["1.10", "-0.001", "12345678901234567890.5"][i]),
        "..": b"up",
        "a/b.txt": "slash",
        "clash": "mine",
        "clash.txt": b"other",
        "": bytes(i),
    }


case("every", "all encodings", [("data", EVERY, map(every, range(3)), {"per_shard": 2})])
LISTS = {
    "array": "jpeg_array",
    "bare": "list[pil]",
    "frames": "jpegarray",
    "images": "list[jpeg]",
    "label": "int",
    "maps": "list[png]",
    "mask": "png",
}
BARE = [
    (3, 2, "RGB", bytes(range(18))),
    (10, 2, "1", bytes([0b10110000, 0b01000000, 0b00000001, 0b10000000])),
    (2, 2, "I;16", struct.pack("<4H", 1, 2, 300, 65535)),
    (1, 3, "L", b"\0\x7f\xff"),
]


def lists(i):
    return {
        "array": [PICTURE] * (i + 1),
        "bare": BARE[i : 2 * i],
        "frames": [OTHER, PICTURE],
        "images": [PICTURE, OTHER, PICTURE][:i],
        "label": i,
        "maps": [png(2 + k, 3, 10 * k) for k in range(3 - i)],
        "mask": png(4, 3, 10 * i),
    }


case("lists", "lists of pictures, some without any", [("data", LISTS, map(lists, range(4)), {"per_shard": 3, "hashes": ["sha1"]})])
case("lists_zstd", "lists of pictures in compressed shards", [("data", LISTS, map(lists, range(3)), {"per_shard": 2, "compression": "zstd"})])
case(
    "zstd",
    "shards compressed by zstd",
    [("data", PLAIN, map(plain, range(6)), {"per_shard": 4, "compression": "zstd:7", "hashes": ["sha256"]})],
)
case("gz", "a shard compressed by gzip", [("data", PLAIN, map(plain, range(3)), {"per_shard": 4, "compression": "gz"})])
case(
    "kept",
    "compressed shards, and what is in them beside",
    [("data", PLAIN, map(plain, range(5)), {"per_shard": 3, "compression": "zstd", "keep_raw": True})],
)
case(
    "merged",
    "datasets of other columns, in one index",
    [
        ("data/a", PLAIN, map(plain, range(3)), {"per_shard": 2}),
        ("data/b", {"label": "uint8", "text": "str"}, [{"label": i, "text": "x" * i} for i in range(4)], {"per_shard": 4, "compression": "zstd"}),
    ],
    index=True,
)
case("empty", "no samples", [("data", PLAIN, [], {"per_shard": 4})])
