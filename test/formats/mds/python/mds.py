"""MDS by its description alone: a writer and a reader that know nothing of ours.

docs.mosaicml.com/projects/streaming: "Dataset Format". A shard: u32 samples, u32 offsets[samples + 1], its configuration
as JSON, samples. A sample: u32 sizes of the columns without a size of their own, then the values.
"""
import decimal
import gzip
import hashlib
import json
import os
import pickle
import struct
import subprocess

import numpy as np

NUMBERS = {name: np.dtype(name) for name in "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()}
NUMBERS["int"] = np.dtype("int64")
# By a list's encoding: what its elements are encoded as, and what stands before their number.
LISTS = {f"list[{name}]": (name, bytes(4)) for name in ("jpeg", "png", "pil")}
LISTS.update({name: ("jpeg", b"") for name in ("jpeg_array", "jpegarray")})
ARRAYS = dict(zip((8, 9, 16, 17, 18, 32, 33, 34, 64, 65, 66), "uint8 int8 uint16 int16 float16 uint32 int32 float32 uint64 int64 float64".split()))


def size_of(encoding):
    name, *rest = encoding.split(":")
    if name in NUMBERS:
        return NUMBERS[name].itemsize
    if name == "ndarray" and len(rest) == 2:
        return int(np.prod([int(n) for n in rest[1].split(",")])) * np.dtype(rest[0]).itemsize
    return None


def encode(encoding, value):
    name, *rest = encoding.split(":")
    if name in NUMBERS:
        return np.array(value, NUMBERS[name]).tobytes()
    if name == "str":
        return value.encode()
    if name in ("str_int", "str_float", "str_decimal"):
        return str(value).encode()
    if name == "json":
        return json.dumps(value).encode()
    if name == "pkl":
        return pickle.dumps(value)
    if name == "ndarray":
        head = b""
        if len(rest) == 0:
            head += bytes([next(number for number, word in ARRAYS.items() if word == value.dtype.name)])
        if len(rest) < 2:
            width = 0 if max(value.shape) < 256 else 1 if max(value.shape) < 65536 else 2
            head += bytes([value.ndim << 2 | width])
            head += np.array(value.shape, [np.uint8, np.uint16, np.uint32][width]).tobytes()
        return head + value.tobytes()
    if name in LISTS:
        element, before = LISTS[name]
        elements = [encode(element, one) for one in value]
        sizes = b"".join(struct.pack("<I", len(one)) for one in elements)
        return before + struct.pack("<I", len(elements)) + sizes + b"".join(elements)
    if name == "pil":
        width, height, mode, raw = value
        return struct.pack("<III", width, height, len(mode)) + mode.encode() + raw
    return value  # bytes, jpeg, png: files as they are


def decode(encoding, data):
    name, *rest = encoding.split(":")
    if name in NUMBERS:
        return np.frombuffer(data, NUMBERS[name])[0].item()
    if name == "str":
        return data.decode()
    if name == "str_int":
        return int(data.decode())
    if name == "str_float":
        return float(data.decode())
    if name == "str_decimal":
        return decimal.Decimal(data.decode())
    if name == "json":
        return json.loads(data.decode())
    if name == "ndarray":
        dtype = rest[0] if rest else None
        if dtype is None:
            dtype, data = ARRAYS[data[0]], data[1:]
        if len(rest) == 2:
            shape = [int(n) for n in rest[1].split(",")]
        else:
            ndim, width = data[0] >> 2, data[0] & 3
            shape = np.frombuffer(data[1 : 1 + (ndim << width)], f"<u{1 << width}")
            data = data[1 + (ndim << width) :]
        return np.frombuffer(data, dtype).reshape([int(n) for n in shape])
    if name in LISTS:
        element, before = LISTS[name]
        (count,) = struct.unpack_from("<I", data, len(before))
        sizes = struct.unpack_from(f"<{count}I", data, len(before) + 4)
        at, elements = len(before) + 4 * (1 + count), []
        for size in sizes:
            elements.append(decode(element, data[at : at + size]))
            at += size
        assert at == len(data)
        return elements
    return data


def compressed(compression, data):
    name = compression.split(":")[0]
    if name == "gz":
        return gzip.compress(data, mtime=0)
    assert name == "zstd"
    return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Writer:
    """Shards of a dataset with columns by their encodings; per_shard samples each."""

    def __init__(self, out, columns, per_shard, compression=None, hashes=(), keep_raw=False):
        self.out, self.columns, self.per_shard = out, dict(sorted(columns.items())), per_shard
        self.compression, self.hashes, self.keep_raw = compression, sorted(hashes), keep_raw
        self.samples, self.shards = [], []
        os.makedirs(out, exist_ok=True)

    def config(self):
        return {
            "version": 2,
            "format": "mds",
            "compression": self.compression,
            "hashes": self.hashes,
            "size_limit": 1 << 26,
            "column_names": list(self.columns),
            "column_encodings": list(self.columns.values()),
            "column_sizes": [size_of(encoding) for encoding in self.columns.values()],
        }

    def write(self, sample):
        sizes, values = b"", b""
        for name, encoding in self.columns.items():
            data = encode(encoding, sample[name])
            if size_of(encoding) is None:
                sizes += struct.pack("<I", len(data))
            values += data
        self.samples.append(sizes + values)
        if len(self.samples) == self.per_shard:
            self.flush()

    def facts(self, data, basename):
        return {"basename": basename, "bytes": len(data), "hashes": {name: hashlib.new(name, data).hexdigest() for name in self.hashes}}

    def flush(self):
        config = json.dumps(self.config(), sort_keys=True).encode()
        offset = 4 * (len(self.samples) + 2) + len(config)
        table = [len(self.samples), offset]
        for sample in self.samples:
            offset += len(sample)
            table.append(offset)
        data = struct.pack(f"<{len(table)}I", *table) + config + b"".join(self.samples)
        name = f"shard.{len(self.shards):05}.mds"
        raw, zipped = self.facts(data, name), None
        if self.compression is None or self.keep_raw:
            with open(f"{self.out}/{name}", "wb") as file:
                file.write(data)
        if self.compression is not None:
            data, name = compressed(self.compression, data), f"{name}.{self.compression.split(':')[0]}"
            zipped = self.facts(data, name)
            with open(f"{self.out}/{name}", "wb") as file:
                file.write(data)
        self.shards.append({**self.config(), "raw_data": raw, "zip_data": zipped, "samples": len(self.samples)})
        self.samples = []

    def close(self):
        if self.samples:
            self.flush()
        with open(f"{self.out}/index.json", "w") as file:
            json.dump({"version": 2, "shards": self.shards}, file, sort_keys=True)


def read(directory):
    """All samples of a dataset whose shards are not compressed, each as values by columns; hashes are compared."""
    with open(f"{directory}/index.json") as file:
        index = json.load(file)
    assert index["version"] == 2
    for shard in index["shards"]:
        with open(f"{directory}/{shard['raw_data']['basename']}", "rb") as file:
            data = file.read()
        assert len(data) == shard["raw_data"]["bytes"]
        for name, value in shard["raw_data"]["hashes"].items():
            assert hashlib.new(name, data).hexdigest() == value
        (count,) = struct.unpack_from("<I", data)
        assert count == shard["samples"]
        offsets = struct.unpack_from(f"<{count + 1}I", data, 4)
        own = json.loads(data[4 * (count + 2) : offsets[0]])
        for key in ("column_names", "column_encodings", "column_sizes", "version", "format"):
            assert own[key] == shard[key], key
        assert offsets[-1] == len(data)
        for begin, end in zip(offsets, offsets[1:]):
            yield sample_of(shard, data[begin:end])


def sample_of(shard, data):
    at, sizes = 0, []
    for size in shard["column_sizes"]:
        if not size:
            (size,) = struct.unpack_from("<I", data, at)
            at += 4
        sizes.append(size)
    sample = {}
    for name, encoding, size in zip(shard["column_names"], shard["column_encodings"], sizes):
        sample[name] = (encoding, data[at : at + size])
        at += size
    assert at == len(data)
    return sample
