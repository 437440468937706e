#!/usr/bin/env python3
"""Makes the files next to it that docs/recipes.md uses, with Python and NumPy only:

just_a_folder/         the folder of the original library's README
packed.ffr             the same, packed like the original library does
pickled_by_python.ffr  a file of pickled samples

The recipes expect the values written here.
"""
import collections
import json
import pathlib
import pickle
import shutil
import struct
import zlib

import numpy as np

HERE = pathlib.Path(__file__).parent


def png(width, height, pixel):
    """Returns a PNG of 8-bit RGB pixels."""
    def chunk(kind, data):
        crc = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)

    rows = b"".join(
        b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height)
    )
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def write_ffr(path, samples):
    """Writes a file by the format's description."""
    offset = 12 + 12 * len(samples)
    tables = struct.pack("<q", len(samples))
    tables += b"".join(struct.pack("<I", zlib.crc32(sample)) for sample in samples)
    for sample in samples:
        tables += struct.pack("<q", offset)
        offset += len(sample)
    header = struct.pack("<I", zlib.crc32(tables)) + tables
    path.write_bytes(header + b"".join(samples))


def pack(folder, samples):
    """Appends the files of a folder to the samples, depth first by name. Returns its structure."""
    structure = collections.OrderedDict()
    for child in sorted(folder.iterdir()):
        if child.is_dir():
            structure[child.name] = pack(child, samples)
        else:
            structure[child.name] = len(samples)
            samples.append(child.read_bytes())
    return structure


folder = HERE / "just_a_folder"
shutil.rmtree(folder, ignore_errors=True)
inner = folder / "just_another_folder"
deepest = inner / "another_folder"
deepest.mkdir(parents=True)
for number in (1, 2, 3):
    (folder / f"00{number}.txt").write_text(f"This is file {number}.\n")
(inner / "004.txt").write_text("This is file 4.\n")
(deepest / "005.txt").write_text("Grüße aus Datei 5\n", encoding="utf-8")
(folder / "just_a_figure.png").write_bytes(
    png(4, 3, lambda x, y: (60 * x, 100 * y, 30 * (x + y)))
)
(inner / "jsonfile.json").write_text(json.dumps({"label": "cat", "box": [1, 2, 30, 40]}))
np.save(inner / "npyfile.npy", np.arange(6, dtype=np.float32).reshape(2, 3) / 2)
np.savez(
    inner / "npzfile.npz",
    np.array([[1, 2], [3, 2**60]]),
    mask=np.array([True, False, True]),
    names=np.array(["cat", "dog"]),
)

samples = []
structure = pack(folder, samples)
write_ffr(HERE / "packed.ffr", samples + [b"piouhjgbr" + pickle.dumps(structure)])

people = [
    {"name": "Ada", "year": 1815, "tags": ("math", "poetry"), "photo": b"\xff\xd8\xff"},
    {"name": "Zoë", "year": None, "tags": (), "photo": b""},
]
write_ffr(HERE / "pickled_by_python.ffr", [pickle.dumps(person) for person in people])
