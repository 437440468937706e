"""Makes test/golden/between: datasets in forms that granular had for a few commits only.

    make_between.py CHECKOUTS OUT

CHECKOUTS holds a folder for each commit of danijar/granular in CASES, with the files of that commit.
They are written by the code of the commit, and expect.json says what the same code reads of them.
"""

import hashlib
import importlib
import json
import pathlib
import subprocess
import sys
import types

import numpy as np

CASES = {
    "parts_0_4_0": ("5c8c6d6", "bags 0.4.0"),
    "array_0_8_0": ("49e83e9", "granular 0.8.0"),
    "arraytree_0_8_1": ("cdb957b", "granular 0.8.1"),
    "refless_0_22_0": ("fb0e774", "granular 0.22.0"),
    "refless_shards_0_22_0": ("fb0e774", "granular 0.22.0"),
}


def arrays():
    rng = np.random.default_rng(0)
    yield np.arange(6, dtype="<f4").reshape(2, 3)
    yield np.array([[1, 2], [3, 4]], dtype=">i2")
    yield np.zeros((0, 3), dtype="|u1")
    yield np.array([True, False, True])
    yield np.array([np.nan, np.inf, -0.0, 1.5], dtype="<f8")
    yield rng.integers(-(2**62), 2**62, (3, 1, 2))
    yield rng.integers(0, 255, (5, 7, 3), dtype=np.uint8)
    yield np.array(7, dtype="<i4")
    yield np.zeros((1,) * 32, dtype="<i8")


def datapoints(name):
    all_arrays = list(arrays())
    for i, array in enumerate(all_arrays):
        point = {"n": i * 100, "text": f"datapoint {i}: ü"}
        if name == "array_0_8_0":
            point["array"] = array
            point["arrays"] = all_arrays[:i % 4]
        if name == "arraytree_0_8_1":
            point["tree"] = {"a": array, "b": [all_arrays[i - 1], {"c": array}], "none": []}
        if name.startswith("refless"):
            point["array"] = array
            point["tree"] = {"a": [array, 5, None], "b": "text"}
            point["n"] = i - 3 if i > 3 else i
        yield point


SPECS = {
    "parts_0_4_0": {"n": "int", "text": "utf8"},
    "array_0_8_0": {"array": "array", "arrays": "array[]", "n": "int", "text": "utf8"},
    "arraytree_0_8_1": {"n": "int", "text": "utf8", "tree": "arraytree"},
    "refless_0_22_0": {"array": "array", "n": "int", "text": "utf8", "tree": "tree"},
}
SPECS["refless_shards_0_22_0"] = SPECS["refless_0_22_0"]


def described(value):
    """In the form of expect.json in the other folders of test/golden."""
    if isinstance(value, np.ndarray):
        data = value.tobytes()
        return {"$array": {"dtype": value.dtype.str, "shape": value.shape, "size": len(data),
                           "sha256": hashlib.sha256(data).hexdigest()}}
    if isinstance(value, (list, tuple)):
        return [described(x) for x in value]
    if isinstance(value, dict):
        return {k: described(x) for k, x in value.items()}
    return value


def make(name, checkout, out):
    for unused in ("av", "cloudpickle"):
        sys.modules.setdefault(unused, types.ModuleType(unused))
    sys.path.insert(0, str(checkout))
    package = importlib.import_module("bags" if (checkout / "bags").exists() else "granular")
    try:
        encoders, decoders = package.encoders, package.decoders
    except AttributeError:
        formats = importlib.import_module(f"{package.__name__}.formats")
        encoders, decoders = formats.encoders, formats.decoders
    out.mkdir(parents=True)
    data = out / "data"
    spec = SPECS[name]
    if name.startswith("parts"):
        writer, reader = package.DatasetWriter(data, spec, encoders, 100), package.DatasetReader
    elif "shards" in name:
        writer = package.ShardedDatasetWriter(data, spec, encoders, shardlen=4)
        reader = package.ShardedDatasetReader
    else:
        writer, reader = package.DatasetWriter(data, spec, encoders), package.DatasetReader
    with writer:
        for point in datapoints(name):
            writer.append(point)
    with reader(data, decoders) as read:
        points = [described(read[i]) for i in range(len(read))]
    commit, version = CASES[name]
    facts = {"made_by": f"{version}, commit {commit} of danijar/granular", "spec": spec, "datapoints": points}
    (out / "expect.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    checkouts, out = map(pathlib.Path, sys.argv[1:3])
    if len(sys.argv) == 4:
        make(sys.argv[3], checkouts / CASES[sys.argv[3]][0], out / sys.argv[3])
    else:  # a process for each, since they have packages of the same name
        for name in CASES:
            subprocess.run([sys.executable, __file__, checkouts, out, name], check=True)
