"""Writes test/golden/recordio from the specifications alone: make_golden.py DIRECTORY.

Records: dmlc-core, include/dmlc/recordio.h. Images: MXNet, IRHeader in python/mxnet/recordio.py. Face sets: InsightFace,
recognition/arcface_mxnet/common/rec_builder.py. Pictures: Pillow.
"""
import hashlib
import io
import json
import os
import shutil
import struct
import sys

from PIL import Image

GOLDEN = sys.argv[1]
MAGIC = struct.pack("<I", 0xCED7230A)


def part(flag, data):
    return MAGIC + struct.pack("<I", flag << 29 | len(data)) + data + bytes(-len(data) % 4)


def stored(record):
    """The parts of a record: it is split where an aligned word is the magic."""
    cuts = [at for at in range(0, len(record) // 4 * 4, 4) if record[at : at + 4] == MAGIC]
    if not cuts:
        return part(0, record)
    starts = [0] + [at + 4 for at in cuts]
    ends = cuts + [len(record)]
    pieces = [record[start:end] for start, end in zip(starts, ends)]
    flags = [1] + [2] * (len(pieces) - 2) + [3]
    return b"".join(part(flag, piece) for flag, piece in zip(flags, pieces))


def image_record(label, id, id2, content):
    labels = b""
    if isinstance(label, list):
        labels = struct.pack(f"<{len(label)}f", *label)
        header = struct.pack("<IfQQ", len(label), 0, id, id2)
    else:
        header = struct.pack("<IfQQ", 0, label, id, id2)
    return header + labels + content


def digest(content):
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def float32(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def expected(label, id, id2, content):
    labels = [float32(one) for one in label] if isinstance(label, list) else float32(label)
    return {"image": digest(content), "label": labels, "id": str(id + (id2 << 64))}


def case(name, target, files, title, samples):
    """Files: lists of (key, record) by their names; those whose keys are None get no index."""
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    for file, records in files.items():
        path = f"{directory}/{file}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lines = []
        with open(path, "wb") as out:
            for key, record in records:
                lines.append(f"{key}\t{out.tell()}\n")
                out.write(stored(record))
        if records and records[0][0] is not None:
            with open(path.replace(".rec", ".idx"), "w") as out:
                out.writelines(lines)
    facts = {
        "schema": "golden-expect/1",
        "case": f"recordio/{name}",
        "format": "recordio",
        "kind": "recordio",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"samples": samples},
    }
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def picture(i, kind="JPEG", size=(8, 6)):
    image = Image.new("RGB", size)
    image.putdata([((37 * i + 5 * k) % 256, (11 * k) % 256, 255 - k) for k in range(size[0] * size[1])])
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def with_magic(content):
    """A picture with bytes after its end at which its record is split: at its first word, twice in a row, at its last."""
    return content + bytes(-len(content) % 4) + MAGIC + b"1234" + MAGIC + MAGIC + b"567" + MAGIC + b"8" + MAGIC


pictures = [picture(i) for i in range(5)] + [with_magic(picture(5))]
images = [(0.5 * i - 1, 10 + i, 0, content) for i, content in enumerate(pictures)]
case(
    "images",
    "train.rec",
    {"train.rec": [(10 + i, image_record(*one)) for i, one in enumerate(images)]},
    "images with one label, and an index",
    [expected(*one) for one in images],
)

lists = [
    ([i, 0.1, -3.5e30, 1e-7][: i + 1], 2**53 + 1 if i == 1 else i, 3 if i == 2 else 0, picture(i, "PNG"))
    for i in range(4)
]
case(
    "lists",
    "val.rec",
    {"val.rec": [(None, image_record(*one)) for one in lists]},
    "images with several labels and large ids, and no index",
    [expected(*one) for one in lists],
)


def face_set(header_first, indexed):
    faces = [(i // 2, 1 + i, 0, picture(i)) for i in range(6)]
    ranges = [([1 + 2 * k, 3 + 2 * k], 7 + k, 0, b"") for k in range(3)]
    header = ([7, 10], 0, 1, b"")
    order = [header, *faces, *ranges] if header_first else [*faces, *ranges, header]
    records = [(one[1] if indexed else None, image_record(*one)) for one in order]
    return {"train.rec": records}, [expected(*one) for one in faces]


for name, first, indexed, title in [
    ("faces", True, True, "a face set with its header first"),
    ("faces_last", False, True, "a face set with its header last"),
    ("faces_unindexed", False, False, "a face set with its header last and no index"),
]:
    files, samples = face_set(first, indexed)
    case(name, "train.rec", files, title, samples)

plain = [b"", b"one", MAGIC, MAGIC + MAGIC, b"x" + MAGIC, bytes(range(256)) * 12, b"ab" * 4 + MAGIC + b"c", b"record_7" * 4]
case(
    "records",
    "plain.rec",
    {"plain.rec": [(None, record) for record in plain]},
    "records of any bytes",
    [{"content": digest(record)} for record in plain],
)
case("empty", "none.rec", {"none.rec": []}, "no records", [])
case(
    "shards",
    "data",
    {
        "data/a_0.rec": [(i, image_record(*images[i])) for i in range(2)],
        "data/a_1.rec": [],
        "data/a_2.rec": [(None, image_record(*images[i])) for i in range(2, 6)],
    },
    "files of a directory, of which one is empty and one has an index",
    [expected(*one) for one in images],
)
