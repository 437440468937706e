"""Writes test/golden/litdata with Lightning AI's litdata, as `deno task setup:peers` installs it: make_golden.py DIRECTORY [CASE...].

The cases `old` and `old_zstd` need litdata 0.2.12, which counted a chunk's bytes otherwise.
"""
import hashlib
import json
import os
import shutil
import sys

import numpy as np
import torch
from litdata.streaming import StreamingDataset
from litdata.streaming.item_loader import TokensLoader
from litdata.streaming.writer import BinaryWriter
from PIL import Image

GOLDEN = sys.argv[1]
CHOSEN = sys.argv[2:]
PICTURES = f"{GOLDEN}/../pictures"


def array_of(value):
    return {"dtype": value.dtype.str, "shape": list(value.shape), "values": [str(item) for item in value.ravel().tolist()]}


def shown(value, file=None):
    """What a reader has to give of a value, as the original gives it: numbers as text, arrays by their elements."""
    if file is not None:
        with open(file, "rb") as opened:
            return {"sha256": hashlib.sha256(opened.read()).hexdigest()}
    if isinstance(value, (bool, np.bool_)):
        return {"boolean": bool(value)}
    if isinstance(value, (int, float, np.number)):
        return {"number": str(value.item() if isinstance(value, np.number) else value)}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    if isinstance(value, Image.Image):
        return array_of(np.asarray(value))
    if isinstance(value, torch.Tensor):
        return array_of(value.numpy())
    if isinstance(value, np.ndarray):
        return array_of(value)
    return {"json": sorted(value) if isinstance(value, set) else value}


def leaves(value, path=""):
    """The values of a sample by the keys or numbers on the way to them, as PyTorch's pytree flattens it."""
    if isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {name: leaf for key, item in items for name, leaf in leaves(item, f"{path}.{key}" if path else f"{key}").items()}
    return {path or "value": value}


def case(name, title, samples, files=None, is_read=True, writer=None, loader=None):
    """Writes a dataset, and what litdata reads of it; files are what fields have as they are."""
    if CHOSEN and name not in CHOSEN or not CHOSEN and name.startswith("old"):
        return
    directory = f"{GOLDEN}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(f"{directory}/data")
    options = writer or {"chunk_size": 2}
    output = BinaryWriter(f"{directory}/data", **options, **({"item_loader": loader} if loader else {}))
    for number, sample in enumerate(samples):
        output[number] = sample
    output.done()
    output.merge()
    if loader is not None:
        read = samples  # its reader gives blocks of tokens, and not what was written
    elif is_read:
        dataset = StreamingDataset(f"{directory}/data")
        read = [dataset[number] for number in range(len(dataset))]
    else:
        read = samples
    for path in os.listdir(f"{directory}/data"):
        if (writer or {}).get("compression") and path.endswith(".bin") and ".zstd" not in path:
            os.remove(f"{directory}/data/{path}")
    index = f"{directory}/data/index.json"
    with open(index) as file:
        facts = json.load(file)
    facts.pop("updated_at", None)
    with open(index, "w") as file:
        json.dump(facts, file, sort_keys=True)
    expected = []
    for number, sample in enumerate(read):
        original = leaves(samples[number])
        places = (files or [{}] * len(samples))[number]
        expected.append({key: shown(leaf, places.get(key)) for key, leaf in zip(original, leaves(sample).values())})
    content = {"samples": expected, "formats": facts["config"]["data_format"]}
    expect = {"schema": "golden-expect/1", "case": f"litdata/{name}", "format": "litdata", "kind": "samples", "target": "data", "title": title, "valid": True, "content": content}
    with open(f"{directory}/expect.json", "w") as file:
        json.dump(expect, file, indent=1, sort_keys=True)


dice = np.random.default_rng(3)
modes = ["RGB", "L", "RGBA"]


def every(number):
    return {
        "text": f"n\u00e4me {number}" if number else "",
        "flag": number % 2 == 0,
        "n": [-5, 2**62, 0][number],
        "x": [0.1, float("nan"), -0.0][number],
        "raw": bytes(range(number * 10)),
        "nested": {"array": dice.integers(0, 99, (2, number + 1)).astype("i2"), "list": [torch.arange(6).reshape(2, 3) + number, number]},
        "row": np.arange(number + 2, dtype="f4") / 3,
        "column": torch.tensor([1.5] * number, dtype=torch.float64),
        "empty": torch.zeros((0, number), dtype=torch.int32),
        "bare": Image.frombytes(modes[number], (3, 2), bytes(range(3 * 2 * len(modes[number]))) if number != 1 else bytes(6)),
        "any": {number, 7},
    }


case("every", "each type of values, in a tree", [every(number) for number in range(3)])

places = [{"image": f"{PICTURES}/{name}.jpg"} for name in ("gray", "420", "422")]
pictures = [{"image": Image.open(place["image"]), "label": number} for number, place in enumerate(places)]
case("pictures", "JPEG files", pictures, files=places, is_read=False)
case("zstd", "compressed chunks", [{"image": picture["image"], "text": "word " * 200, "n": number} for number, picture in enumerate(pictures)], files=places, is_read=False, writer={"chunk_size": 2, "compression": "zstd"})
case("one", "samples that are one number", [3, 1, 4, 1, 5])
case("tokens", "tokens, whose samples have no sizes", [torch.arange(number + 3, dtype=torch.int64) * 2 for number in range(3)], writer={"chunk_bytes": 1 << 20}, loader=TokensLoader(4))
case("old", "chunks whose bytes were counted without their tables", [{"n": number, "text": "x" * number} for number in range(3)], is_read=False)
case("old_zstd", "the same, compressed", [{"n": number, "text": "x" * number} for number in range(3)], is_read=False, writer={"chunk_size": 2, "compression": "zstd"})
