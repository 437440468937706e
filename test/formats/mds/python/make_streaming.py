"""Writes test/golden/mds/streaming* by MosaicML's Streaming (written with 0.13.0): make_streaming.py DIRECTORY.

Every encoding that it has. Values in expect.json are what its reader gives, sizes and hashes those of its encoders.
"""
import decimal
import hashlib
import json
import shutil
import sys

import numpy as np
from PIL import Image
from streaming import LocalDataset, MDSWriter
from streaming.base.format.mds.encodings import get_mds_encodings, mds_encode

GOLDEN = sys.argv[1]
NUMBERS = "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()
LISTS = {"list[jpeg]": "jpeg", "list[png]": "png", "list[pil]": "pil", "jpeg_array": "jpeg", "jpegarray": "jpeg"}


def image(mode, width, height, seed):
    dtype, bands = {"RGB": ("u1", (3,)), "L": ("u1", ()), "I;16": ("<u2", ())}[mode]
    size = width * height * int(np.prod(bands, dtype=int))
    pixels = (np.arange(size, dtype="i8") * 37 + seed * 11) % (256 if dtype == "u1" else 65536)
    return Image.fromarray(pixels.astype(dtype).reshape((height, width) + bands), mode)


def shown(encoding, value, written):
    """What a reader has to give: numbers as text, arrays by their elements, of pictures their size."""
    name = encoding.split(":")[0]
    if name in LISTS:
        return {"list": [one(LISTS[name], *pair) for pair in zip(value, written, strict=True)]}
    if name == "pil":
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.str, "shape": list(value.shape), "values": [str(item) for item in value.ravel().tolist()]}
    if isinstance(value, Image.Image):
        return {"width": value.width, "height": value.height}
    if name in ("json", "pkl"):
        return {"json": value}
    if name == "bytes":
        return None
    return str(value.item() if isinstance(value, np.generic) else value)


def one(encoding, value, written):
    """A value as it was read, and the bytes of what was written."""
    data = mds_encode(encoding, written)
    return {"encoding": encoding, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "value": shown(encoding, value, written)}


COLUMNS = {
    **{f"a_{name}": name for name in NUMBERS},
    "b_array": "ndarray",
    "b_fixed": "ndarray:int16:2,3",
    "b_typed": "ndarray:float32",
    "c_jpeg": "jpeg",
    "c_jpeg_array": "jpeg_array",
    "c_jpegarray": "jpegarray",
    "c_jpegs": "list[jpeg]",
    "c_pil": "pil",
    "c_pils": "list[pil]",
    "c_png": "png",
    "c_pngs": "list[png]",
    "d_bytes": "bytes",
    "d_decimal": "str_decimal",
    "d_float": "str_float",
    "d_int": "str_int",
    "d_json": "json",
    "d_pickle": "pkl",
    "d_str": "str",
    "d_whole": "int",
}
assert {encoding.split(":")[0] for encoding in COLUMNS.values()} == get_mds_encodings()


def jpeg(seed):
    return mds_encode("jpeg", image("RGB", 9 + seed, 8, seed))


def row(i):
    numbers = {}
    for name in NUMBERS:
        dtype = np.dtype(name)
        if dtype.kind == "f":
            numbers[f"a_{name}"] = [0.5, float("nan"), float("-inf")][i]
        else:
            limits = np.iinfo(dtype)
            numbers[f"a_{name}"] = [int(limits.min), int(limits.max), 1][i]
    modes = ["RGB", "L", "I;16"]
    return {
        **numbers,
        "b_array": np.arange(6 + i, dtype=["float64", "uint16", "int8"][i]).reshape([(1, 2, 3), (7,), (2, 4)][i]),
        "b_fixed": np.arange(6, dtype="int16").reshape(2, 3) - i,
        "b_typed": np.array([[i, -0.0], [-1, 3e30]], "float32"),
        "c_jpeg": image("RGB", 12, 9, i),
        "c_jpeg_array": [jpeg(k) for k in range(1 + i)],
        "c_jpegarray": [jpeg(i)],
        "c_jpegs": [image("L", 8 + k, 8, k) for k in range(i)],
        "c_pil": image(modes[i], 4, 3, i),
        "c_pils": [image(mode, 2, 2, i) for mode in modes[:i]],
        "c_png": image("RGB", 5, 4, i),
        "c_pngs": [image("L", 3, 4 + k, i) for k in range(2 - i)],
        "d_bytes": bytes(range(i * 100)),
        "d_decimal": decimal.Decimal(["1.10", "-0.001", "12345678901234567890.5"][i]),
        "d_float": [0.1, float("nan"), 1e300][i],
        "d_int": [10**30, -5, 0][i],
        "d_json": [{"a": [1, 2.5, None, {}], "ü": []}, "text", True][i],
        "d_pickle": [{"a": [1, 2]}, ["x", None], 7][i],
        "d_str": ["", "häß ☃ 🦊", 'a\nb"c'][i],
        "d_whole": [-(2**63), 2**63 - 1, 0][i],
    }


def case(name, title, columns, rows, **options):
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    rows = [{column: value for column, value in row.items() if column in columns} for row in rows]
    with MDSWriter(out=f"{directory}/data", columns=columns, **options) as writer:
        for sample in rows:
            writer.write(sample)
    # Only shards that are not compressed are datasets without being copied.
    plain = f"{directory}/plain"
    with MDSWriter(out=plain, columns=columns) as writer:
        for sample in rows:
            writer.write(sample)
    samples = [
        {column: one(encoding, read[column], written[column]) for column, encoding in sorted(columns.items())}
        for read, written in zip(LocalDataset(plain), rows, strict=True)
    ]
    shutil.rmtree(plain)
    with open(f"{directory}/expect.json", "w") as file:
        facts = {
            "schema": "golden-expect/1",
            "case": f"mds/{name}",
            "format": "mds",
            "kind": "mds",
            "target": "data",
            "title": title,
            "valid": True,
            "content": {"samples": samples},
        }
        json.dump(facts, file, indent=1)
        file.write("\n")


ROWS = [row(i) for i in range(3)]
case("streaming", "all encodings of Streaming, in three shards", COLUMNS, ROWS, hashes=["sha1", "xxh64"], size_limit=6000)
FEW = {column: COLUMNS[column] for column in ("b_array", "c_jpegs", "d_json", "d_str", "d_whole")}
case("streaming_zstd", "shards that Streaming compressed", FEW, ROWS, compression="zstd:7", hashes=["sha256"], size_limit=700)
