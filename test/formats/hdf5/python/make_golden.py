"""Writes test/golden/hdf5 and hdf5_forms by h5py (3.16.0) and hdf5plugin (7.1.0): make_golden.py test/golden.

Each case is a file and expect.json: the files that it shows. An array is its type, its shape and the CRC-32 of its
elements in C order, as NumPy has them; a text and JSON are what h5py reads; "unreadable" is a part of the message.
"""
import bz2
import json
import os
import shutil
import sys
import zlib

import h5py
import hdf5plugin
import numpy as np

GOLDEN = sys.argv[1]
RANDOM = np.random.default_rng(7)


def array(values):
    """An array as expect.json has it."""
    values = np.asarray(values, order="C")
    return {"dtype": values.dtype.str, "shape": list(values.shape), "crc32": zlib.crc32(values.tobytes())}


def case(name, write, golden="hdf5", **facts):
    directory = f"{GOLDEN}/{golden}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    with h5py.File(f"{directory}/{name}.h5", "w", **facts.pop("options", {})) as file:
        shown = write(file)
    with open(f"{directory}/expect.json", "w") as out:
        json.dump({"target": f"{name}.h5", **facts, **shown}, out, indent=1)
        out.write("\n")


def direct(file, name, values, chunks, change, kind=None, maxshape=None):
    """Creates a dataset by the library's own properties; returns it without values."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunks)
    change(plist)
    values = np.asarray(values)
    space = h5py.h5s.create_simple(values.shape, maxshape)
    kind = kind or h5py.h5t.py_create(values.dtype)
    return h5py.h5d.create(file.id, name.encode(), kind, space, plist)


def small(file):
    """Three rows, with a checksum over one column."""
    file.create_dataset("n", data=np.array([7, 8, 9], "<i8"), chunks=(3,), fletcher32=True)
    file["word"] = ["cat", "dog", "cat"]
    return {
        "files": {"n.npy": array(file["n"][:]), "word.json": {"json": ["cat", "dog", "cat"]}},
        "rows": {"n": [7, 8, 9], "word": ["cat", "dog", "cat"]},
    }


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


def types(file):
    """Every type of elements, of both byte orders."""
    files = {}

    def add(name, values, dtype=None):
        file.create_dataset(name, data=values, dtype=dtype)
        read = file[name][()]
        files[f"{name}.npy"] = array(read.astype(read.dtype.newbyteorder("<")))

    for order, word in ("<", "little"), (">", "big"):
        for kind in NUMBERS:
            values = RANDOM.integers(0, 100, (3, 2)).astype(order + kind)
            add(f"{word}/{kind}", values)
        add(f"{word}/complex64", np.array([1 + 2j, -3.5j], order + "c8"))
        add(f"{word}/complex128", np.array([1 + 2j, -3.5j], order + "c16"))
        add(f"{word}/arrays", np.zeros(2, np.dtype((order + "i4", (3,)))) + np.arange(3))
        kind = h5py.special_dtype(vlen=np.dtype(order + "i4"))
        file.create_dataset(f"{word}/ragged", (2,), dtype=kind)
        file[f"{word}/ragged"][0] = [1, 2, 3]
        files[f"{word}/ragged.json"] = {"json": [[1, 2, 3], []]}
        kind = np.dtype([("a", order + "i2"), ("b", order + "f8"), ("c", "S3"), ("d", order + "u4", (2,))])
        file[f"{word}/compound"] = np.array([(1, 2.5, b"x", [3, 4]), (-1, 0.1, b"yz", [5, 6])], kind)
        files[f"{word}/compound.json"] = {"json": [
            {"a": 1, "b": 2.5, "c": "x", "d": [3, 4]},
            {"a": -1, "b": 0.1, "c": "yz", "d": [5, 6]},
        ]}
    mixed = np.dtype([("a", ">i4"), ("b", "<i4")])
    file["mixed"] = np.array([(1, 2)], mixed)
    files["mixed.json"] = {"json": [{"a": 1, "b": 2}]}
    add("bool", np.array([True, False, True]))
    add("fixed", np.array([b"ab", b"c"], "S4"))
    add("opaque", np.array([b"\1\2\3", b"\4\5\6"], "V3"))
    add("scalar", np.float64(3.5))
    add("empty", np.zeros((0, 4), "f4"))
    for order in "<>":
        kind = h5py.enum_dtype({"red": 0, "blue": 300}, order + "i2")
        name = f"enum{ord(order)}"
        file.create_dataset(name, data=np.array([0, 300], "i2"), dtype=kind)
        files[f"{name}.npy"] = array(np.array([0, 300], order + "i2"))
    file["text"] = "häuser\n"
    files["text.txt"] = {"text": "häuser\n"}
    file["texts"] = np.array([["a", "ü"], ["", "long" * 9]], dtype=h5py.string_dtype())
    files["texts.json"] = {"json": [["a", "ü"], ["", "long" * 9]]}
    file["nothing"] = h5py.Empty("f4")
    files["nothing.json"] = {"json": None}
    return {"files": dict(sorted(files.items()))}


def layouts(file):
    """Compact, contiguous, chunked and filtered datasets, of which blocks end inside chunks and dimensions."""
    files = {}
    values = (np.arange(60 * 70 * 50) * 2654435761 >> 7).astype("<u2").reshape(60, 70, 50)

    def add(name, values, **options):
        file.create_dataset(name, data=values, **options)
        files[f"{name}.npy"] = array(values)

    values = np.tile(values[:, :7], (1, 10, 1))
    add("chunked", values, chunks=(7, 31, 50), compression="gzip", compression_opts=9)
    add("shuffled", values, chunks=(60, 70, 50), shuffle=True, compression="gzip", fletcher32=True)
    add("scaled", values[:4].astype("<i4"), chunks=(4, 7, 50), scaleoffset=0)
    add("tail", values[:1, :1], chunks=(1, 1, 16))
    add("plain", values[:3])
    kind = h5py.h5t.NATIVE_INT32
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((5,))
    compact = h5py.h5d.create(file.id, b"compact", kind, space, plist)
    compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(5, dtype="<i4"))
    files["compact.npy"] = array(np.arange(5, dtype="<i4"))
    file.create_dataset("filled", (4, 4), "<f4", chunks=(2, 2), fillvalue=1.5)
    files["filled.npy"] = array(np.full((4, 4), 1.5, "<f4"))
    return {"files": dict(sorted(files.items()))}


def groups(file):
    """Groups, links, attributes and odd names."""
    file["train/x"] = np.arange(4, dtype="<i4")
    file["test/deep/er/y"] = np.arange(3, dtype="<i4")
    file.create_group("none")
    file["odd ü/a%b"] = np.arange(2, dtype="<i4")
    file["odd ü/x.npy"] = np.arange(2, dtype="<i4")
    file["odd ü/x"] = np.arange(3, dtype="<i4")
    file["again"] = file["train/x"]
    file["none/up"] = file["test"]
    file["soft"] = h5py.SoftLink("/train/x")
    file["softly"] = h5py.SoftLink("/test/deep")
    file["dangling"] = h5py.SoftLink("/nowhere")
    file["loop"] = h5py.SoftLink("/loop")
    file.attrs["title"] = "a file"
    file.attrs["numbers"] = np.array([[1, 2], [3, 4]], "<i2")
    file.attrs["big"] = np.uint64(2**64 - 1)
    file.attrs["float"] = np.float32(0.1)
    file.attrs["swapped"] = np.array([1, 2], ">i4")
    file.attrs["yes"] = True
    file.attrs["empty"] = h5py.Empty("i4")
    file["train/x"].attrs["unit"] = np.bytes_(b"mm")
    x = array(np.arange(4, dtype="<i4"))
    y = array(np.arange(3, dtype="<i4"))
    two = array(np.arange(2, dtype="<i4"))
    unit = {"json": {"unit": "mm"}}
    return {
        "files": {
            "again.attrs.json": unit,
            "again.npy": x,
            "attributes.json": {"json": {
                "big": "18446744073709551615",
                "empty": None,
                "float": 0.1,
                "numbers": [[1, 2], [3, 4]],
                "swapped": [1, 2],
                "title": "a file",
                "yes": True,
            }},
            "odd ü/a%25b.npy": two,
            "odd ü/x.npy": y,
            "odd ü/x~2.npy": two,
            "soft.npy": x,
            "test/deep/er/y.npy": y,
            "train/x.attrs.json": unit,
            "train/x.npy": x,
        },
        "links": {"softly": "test/deep"},
        "skipped": ["dangling", "loop", "none/up"],
    }


def rows(file):
    """Rows of every form of field."""
    images = RANDOM.integers(0, 256, (40, 8, 6, 3)).astype("u1")
    labels = np.arange(40, dtype="<i8") * 3
    file.create_dataset("images", data=images, chunks=(7, 8, 6, 3), compression="gzip")
    file["labels"] = labels
    file["big"] = np.arange(40, dtype=">u8") + 2**63
    file["flag"] = np.arange(40) % 3 == 0
    file["half"] = (np.arange(40) / 4).astype("<f2")
    words = [f"wörd {i}" for i in range(40)]
    file["words"] = words
    file["fixed"] = np.array([f"w{i}".encode() for i in range(40)])
    file["pairs"] = np.array([(i, i / 2) for i in range(40)], [("a", "<i4"), ("b", "<f8")])
    file.create_dataset("bytes", (40,), dtype=h5py.vlen_dtype(np.uint8))
    for i in range(40):
        file["bytes"][i] = np.frombuffer(bytes([1, 2, 3])[: i % 4], np.uint8)
    return {
        "files": {},
        "rows": {
            "big": [str(2**63 + i) for i in range(40)],
            "bytes": [{"hex": bytes([1, 2, 3])[: i % 4].hex()} for i in range(40)],
            "fixed": [f"w{i}" for i in range(40)],
            "flag": [i % 3 == 0 for i in range(40)],
            "half": [i / 4 for i in range(40)],
            "images": [array(one) for one in images],
            "labels": labels.tolist(),
            "pairs": [{"a": i, "b": i / 2} for i in range(40)],
            "words": words,
        },
    }


def hostile(file):
    """What refers to other files, or to more than there is."""
    file["sound"] = np.arange(4, dtype="<i4")
    file["link_to_file"] = h5py.ExternalLink("other.h5", "/x")
    file["link_to_password"] = h5py.ExternalLink("/etc/passwd", "/x")
    file["through"] = h5py.SoftLink("/link_to_file/x")
    file.create_dataset("raw", (10,), "u1", external=[("/etc/passwd", 0, 10)])
    layout = h5py.VirtualLayout((10,), "u1")
    layout[:] = h5py.VirtualSource("other.h5", "x", (10,))
    file.create_virtual_dataset("virtual", layout)
    layout = h5py.VirtualLayout((4,), "<i4")
    layout[:] = h5py.VirtualSource(".", "sound", (4,))
    file.create_virtual_dataset("virtual_self", layout)
    file.create_dataset("huge", (2**60,), "u1", chunks=(2**20,), fillvalue=7)
    file.create_dataset("wide", (2**40, 0), "u1", chunks=(1, 1), maxshape=(2**40, None))
    file.create_dataset("chunk", (10,), "f8", chunks=(2**28,), maxshape=(None,), fillvalue=7)
    bzip2 = direct(file, "bzip2", np.zeros(100, "u1"), (100,), lambda plist: plist.set_filter(307, 1, (9,)))
    bzip2.write_direct_chunk((0,), bz2.compress(bytes(100)))
    file["up"] = h5py.SoftLink("/")
    file["group/itself"] = file["/"]
    return {
        "files": {"sound.npy": array(np.arange(4, dtype="<i4"))},
        "unreadable": {
            "link_to_file": "external link to the file 'other.h5'",
            "link_to_password": "external link to the file '/etc/passwd'",
            "through": "soft link to '/link_to_file/x'",
            "raw.npy": "another file, '/etc/passwd'",
            "virtual.npy": "virtual dataset of 'other.h5'",
            "virtual_self.npy": "virtual dataset of '.'",
            "huge.npy": "more than a file of",
            "wide.npy": "more than a file of",
            "chunk.npy": "chunks of 2147483648 bytes",
            "bzip2.npy": "the filter bzip2",
        },
    }


def filters(file):
    """Every filter, and several together."""
    files = {}
    values = (np.arange(3000) * 7919 % 1000).astype("<i4")

    def add(name, values, shown=None, **options):
        file.create_dataset(name, data=values, **options)
        read = file[name][()]
        files[f"{name}.npy"] = array(read.astype(read.dtype.newbyteorder("<")))

    add("lzf", values, chunks=(700,), compression="lzf")
    add("shuffled_lzf", values, chunks=(3000,), compression="lzf", shuffle=True, fletcher32=True)
    add("odd_sum", np.arange(7, dtype="u1"), chunks=(7,), fletcher32=True)
    add("scaled_gzip", values.astype(">i2"), chunks=(999,), scaleoffset=0, compression="gzip")
    add("scaled_negative", (values - 500).astype("<i8"), chunks=(999,), scaleoffset=0)
    add("scaled_constant", np.full(100, 7, "<u2"), chunks=(50,), scaleoffset=0)
    add("scaled_wide", RANDOM.integers(-2**63, 2**63, 100).astype(">i8"), chunks=(50,), scaleoffset=0)
    add("scaled_float", (values / 64).astype("<f4"), chunks=(999,), scaleoffset=3)
    add("scaled_double", (values / 64 - 3).astype(">f8"), chunks=(999,), scaleoffset=2)
    add("lz4", np.tile(values, 20), chunks=(60000,), **hdf5plugin.LZ4(nbytes=50000))
    add("lz4_stored", RANDOM.integers(0, 256, 500).astype("u1"), chunks=(500,), **hdf5plugin.LZ4())
    add("zstd", values, chunks=(700,), shuffle=True, **hdf5plugin.Zstd())
    wide = np.tile(values, 50)
    for codec in "blosclz", "lz4", "zlib", "zstd":
        for shuffle in 0, 1:
            blosc = hdf5plugin.Blosc(cname=codec, clevel=5, shuffle=shuffle)
            add(f"blosc_{codec}{shuffle}", wide[: 40_000 if codec == "blosclz" else 150_000], chunks=(29_999,), **blosc)
    add("blosc_stored", RANDOM.integers(0, 256, 500).astype("u1"), chunks=(500,), **hdf5plugin.Blosc(cname="lz4"))
    add("blosc_far", np.concatenate([RANDOM.integers(0, 256, 9000), np.arange(300)] * 3).astype("u1"), chunks=(27_900,), **hdf5plugin.Blosc(cname="blosclz", clevel=9, shuffle=0))
    nbit = lambda plist: plist.set_filter(h5py.h5z.FILTER_NBIT, 0)
    for name, order in ("nbit_little", h5py.h5t.STD_I32LE), ("nbit_big", h5py.h5t.STD_I32BE):
        kind = order.copy()
        kind.set_precision(13)
        kind.set_offset(5)
        small_values = (values[:100] - 500).astype("<i4")
        direct(file, name, small_values, (30,), nbit, kind).write(h5py.h5s.ALL, h5py.h5s.ALL, small_values)
        files[f"{name}.npy"] = array(small_values)
    direct(file, "nbit_whole", values, (999,), nbit).write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    files["nbit_whole.npy"] = array(values)
    part = direct(file, "skipped", values, (1500,), lambda plist: plist.set_deflate(5))
    part.write_direct_chunk((0,), zlib.compress(values[:1500].tobytes()))
    part.write_direct_chunk((1500,), values[1500:].tobytes(), filter_mask=1)
    files["skipped.npy"] = array(values)
    return {"files": dict(sorted(files.items()))}


def indexes(file):
    """Every index of chunks, with chunks that are not stored, and shapes that are smaller than they may become."""
    files = {}

    def add(name, shape, chunks, places, **options):
        made = file.create_dataset(name, shape, "<u2", chunks=chunks, fillvalue=7, **options)
        for number, place in enumerate(places):
            made[place] = number + 1
        files[f"{name}.npy"] = array(made[()])

    # From the chunk 131,060 on, blocks of an extensible array have pages.
    far = [0, 3, 4, 5, 19, 20, 36, 100, 255, 256, 1023, 1024, 5000, 16383, 16384, 30000, 131059, 131060, 139999]
    for compression in None, "gzip":
        end = "_gzip" if compression else ""
        options = {"compression": compression}
        add(f"one{end}", (5, 7), (5, 7), [(2, 3)], **options)
        add(f"fixed{end}", (9, 11), (2, 3), [(0, 0), (4, 10), (8, 1)], maxshape=(20, 30), **options)
        add(f"fixed_pages{end}", (140_000,), (1,), far, **options)
        add(f"extensible{end}", (140_000,), (1,), far, maxshape=(None,), **options)
        add(f"extensible_second{end}", (5, 300), (2, 1), [(i % 5, i) for i in range(0, 300, 7)], maxshape=(6, None), **options)
        add(f"tree{end}", (40, 60), (3, 2), [(i, i) for i in range(40)], maxshape=(None, None), **options)
    early = lambda plist: plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    values = np.arange(35 * 11, dtype="<i4").reshape(35, 11)
    direct(file, "implicit", values, (4, 3), early).write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    files["implicit.npy"] = array(values)
    edges = lambda plist: (plist.set_deflate(4), plist.set_chunk_opts(h5py.h5d.CHUNK_DONT_FILTER_PARTIAL_CHUNKS) if hasattr(plist, "set_chunk_opts") else None)
    direct(file, "edges", values, (4, 3), edges).write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    files["edges.npy"] = array(values)
    shrunk = file.create_dataset("shrunk", data=np.arange(100, dtype="<i4"), chunks=(7,), maxshape=(None,))
    shrunk.resize((50,))
    files["shrunk.npy"] = array(shrunk[()])
    file.create_dataset("never", (3,), "<f8", fillvalue=2.5)
    files["never.npy"] = array(np.full(3, 2.5))
    return {"files": dict(sorted(files.items()))}


def wide(file):
    """Groups of many links, objects of many attributes, attributes that are large, and named types."""
    files = {}
    many = file.create_group("many", track_order=True)
    for i in range(600):
        name = f"many/x{i:03}"
        if i % 50:
            file[name] = np.dtype("<i2")  # a named type, which is not shown
            continue
        file[name] = np.int16(i)
        files[f"{name}.npy"] = array(np.int16(i))
    attributes = {f"a{i:02}": i for i in range(40)}
    # Only newer files may have one of more than 64 KiB.
    attributes["large"] = list(range(5000 if file.libver[0] == "earliest" else 9000))
    attributes["texts"] = ["a", "bü"]
    noted = file.create_group("noted")
    for name, value in attributes.items():
        noted.attrs[name] = np.array(value, "<i8") if name == "large" else value
    files["noted/attributes.json"] = {"json": attributes}
    file["kind"] = np.dtype([("a", "<i4"), ("b", h5py.string_dtype())])
    made = file.create_dataset("named", (2,), file["kind"])
    made[0] = (3, "drei")
    files["named.json"] = {"json": [{"a": 3, "b": "drei"}, {"a": 0, "b": ""}]}
    made.attrs.create("same", np.array((5, "fünf"), made.dtype), dtype=file["kind"])
    files["named.attrs.json"] = {"json": {"same": {"a": 5, "b": "fünf"}}}
    kind = h5py.vlen_dtype(np.dtype("<f4"))
    file.create_dataset("ragged", (2, 2), kind, chunks=(1, 2), compression="gzip")
    file["ragged"][1, 0] = np.array([0.5, 0.1], "f4")
    files["ragged.json"] = {"json": [[[], []], [[0.5, 0.1], []]]}
    padded = h5py.h5t.C_S1.copy()
    padded.set_size(4)
    padded.set_strpad(h5py.h5t.STR_SPACEPAD)
    space = h5py.h5s.create(h5py.h5s.SCALAR)
    h5py.h5d.create(file.id, b"padded", padded, space).write(space, space, np.array(b"ab  "), padded)
    files["padded.txt"] = {"text": "ab"}
    return {"files": dict(sorted(files.items()))}


case("small", small)
case("empty", lambda file: {"files": {}})
case("types", types)
case("layouts", layouts, options={"libver": "latest"})
case("groups", groups)
case("rows", rows)
case("hostile", hostile, valid=False)
case("user_block", small, options={"userblock_size": 1024})
case("filters", filters, "hdf5_forms")
for libver in "latest", "earliest":
    case(f"indexes_{libver}", indexes, "hdf5_forms", options={"libver": libver})
    case(f"wide_{libver}", wide, "hdf5_forms", options={"libver": libver})
with h5py.File(f"{GOLDEN}/hdf5/small/small.h5") as small_file:
    print("small: the chunk of n begins at", small_file["n"].id.get_chunk_info(0).byte_offset)

# The start of a file of 1 GiB, without its elements.
LARGE = f"{GOLDEN}/hdf5_large/large"
shutil.rmtree(LARGE, ignore_errors=True)
os.makedirs(LARGE)
path = f"{LARGE}/large.h5"
with h5py.File(path, "w") as file:
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plist.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((2**20, 1024))
    offset = h5py.h5d.create(file.id, b"x", h5py.h5t.STD_U8LE, space, plist).get_offset()
size = os.path.getsize(path)
os.truncate(path, offset)
with open(f"{LARGE}/expect.json", "w") as out:
    json.dump({"target": "large.h5", "valid": False, "offset": offset, "size": size}, out)
    out.write("\n")
