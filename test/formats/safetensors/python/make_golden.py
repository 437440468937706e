"""Writes test/golden/safetensors with Hugging Face's safetensors and NumPy: make_golden.py DIRECTORY."""
import hashlib
import json
import os
import shutil
import sys

import numpy as np
from safetensors import TensorSpec, deserialize, safe_open, serialize_file
from safetensors.numpy import save_file

GOLDEN = sys.argv[1]
WORDS = {"bfloat16": "BF16", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e8m0fnu": "F8_E8M0"}


def seen(path):
    """What the original reads of a file, in the order of its data: values as text, where NumPy has the type."""
    with open(path, "rb") as file:
        data = file.read()
    tensors = []
    arrays = {}
    with safe_open(path, framework="np") as opened:
        metadata = opened.metadata()
        order = opened.offset_keys()
        parts = dict(deserialize(data))
        for name in order:
            if parts[name]["dtype"] not in WORDS.values() and not parts[name]["dtype"].startswith("F4"):
                arrays[name] = opened.get_tensor(name)
    for name in order:
        part = parts[name]
        tensor = {"name": name, "dtype": part["dtype"], "shape": part["shape"], "sha256": hashlib.sha256(part["data"]).hexdigest()}
        if name in arrays:
            array = arrays[name]
            tensor["numpy"] = array.dtype.str
            tensor["values"] = [str(value) for value in array.ravel().tolist()]
        tensors.append(tensor)
    return {"metadata": metadata, "tensors": tensors}


def case(name, title, files, index=None):
    """Writes the expectations of files in `data`, which have been written; one file is the container itself."""
    directory = f"{GOLDEN}/{name}"
    names = sorted(files)
    target = names[0] if len(names) == 1 else "data"
    paths = [f"{directory}/{one}" if len(names) == 1 else f"{directory}/data/{one}" for one in names]
    content = {"files": {one: seen(path) for one, path in zip(names, paths)}, "index": index is not None}
    if index is not None:
        with open(f"{directory}/data/model.safetensors.index.json", "w") as file:
            json.dump({"metadata": {"total_size": 0}, "weight_map": index}, file, indent=2)
    facts = {"schema": "golden-expect/1", "case": f"safetensors/{name}", "format": "safetensors", "kind": "tensors", "target": target, "title": title, "valid": True, "content": content}
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(facts, file, indent=1, sort_keys=True)


def directory(name, below=""):
    shutil.rmtree(f"{GOLDEN}/{name}", ignore_errors=True)
    os.makedirs(f"{GOLDEN}/{name}{below}")
    return f"{GOLDEN}/{name}{below}"


dice = np.random.default_rng(7)
kinds = ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8"]
arrays = {f"{kind}.weight": (dice.random((2, 3)) * 200 - (0 if kind[0] in "bu" else 100)).astype(kind) for kind in kinds}
arrays |= {
    "scalar": np.array(2.5, np.float32),
    "empty/of": np.zeros((0, 4), np.int32),
    "odd": np.array([np.nan, -np.inf, -0.0], np.float64),
    "layers.0/attn.k": np.arange(24, dtype=np.int64).reshape(2, 3, 4),
    "..": np.array([1], np.uint8),
    "a.npy": np.array([2], np.uint8),
    "a": np.array([3], np.uint8),
    "n\u00e4me \u6f22": np.array([4], np.uint8),
    "": np.array([5], np.uint8),
    "l" * 300: np.array([6], np.uint8),
}
save_file(arrays, f"{directory('types')}/model.safetensors", {"format": "np", "n\u00f6te": "a \"text\""})
case("types", "each type of NumPy, and odd names", ["model.safetensors"])

kept = []
specs = {}
for name, shape, size in [("bfloat16", [2, 3], 2), ("float8_e4m3fn", [5], 1), ("float8_e5m2", [], 1), ("float8_e8m0fnu", [0], 1), ("float4_e2m1fn_x2", [4], 1), ("float32", [2], 4)]:
    data = dice.integers(0, 256, int(np.prod(shape)) * size, dtype=np.uint8)
    kept.append(data)
    specs[f"raw.{name}"] = TensorSpec(dtype=name, shape=shape, data_ptr=data.ctypes.data, data_len=len(data))
serialize_file(specs, f"{directory('raw')}/raw.safetensors")
case("raw", "types that NumPy has not", ["raw.safetensors"])

place = directory("sharded", "/data")
shards = {f"model-0000{i + 1}-of-00002.safetensors": {f"layers.{n}.weight": np.full((2, 2), n, np.float32) for n in range(3 * i, 5 - 2 * (1 - i))} for i in range(2)}
for name, tensors in shards.items():
    save_file(tensors, f"{place}/{name}", {"format": "pt"})
case("sharded", "a model in shards, with its index", shards, {tensor: name for name, tensors in shards.items() for tensor in tensors})

place = directory("apart", "/data")
for name in ("text_encoder", "unet"):
    save_file({"w": np.arange(3, dtype=np.int16) + len(name)}, f"{place}/{name}.safetensors")
case("apart", "files in a directory, without an index", ["text_encoder.safetensors", "unet.safetensors"])

save_file({}, f"{directory('none')}/none.safetensors", {"only": "texts"})
case("none", "no tensor at all", ["none.safetensors"])
