"""Writes test/golden/arrow/datasets_saved and datasets_splits by Hugging Face's datasets (written with 5.2): make_saved.py DIRECTORY.

A data set of pictures as `save_to_disk` writes it, in two files, and one of two splits. Their expect.json is what `load_from_disk` reads of it,
as make_golden.py has it.
"""
import io
import json
import os
import shutil
import sys

import datasets
import PIL.Image

FOLDER = f"{sys.argv[1]}/datasets_saved"
COUNT = 7


def picture(shade):
    image = PIL.Image.new("RGB", (6, 4), (shade, 255 - shade, 3 * shade))
    into = io.BytesIO()
    image.save(into, "PNG")
    return into.getvalue()


shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
rows = {
    "image": [None if i == 4 else {"bytes": picture(9 * i), "path": f"picture_{i}.png"} for i in range(COUNT)],
    "label": [i % 2 for i in range(COUNT)],
    "text": [f"Text {i}" for i in range(COUNT)],
    "tokens": [list(range(i)) for i in range(COUNT)],
}
features = datasets.Features({
    "image": datasets.Image(),
    "label": datasets.ClassLabel(names=["cat", "dog"]),
    "text": datasets.Value("string"),
    "tokens": datasets.List(datasets.Value("int32")),
})
datasets.Dataset.from_dict(rows, features=features).save_to_disk(f"{FOLDER}/data", num_shards=2)

read = datasets.load_from_disk(f"{FOLDER}/data").cast_column("image", datasets.Image(decode=False))
columns = []
for name in features:
    values = list(read[name])
    if name == "image":
        values = [v and {"struct": [["bytes", {"hex": v["bytes"].hex()}], ["path", v["path"]]]} for v in values]
    if name == "label":
        values = [{"bigint": str(v)} for v in values]
    columns.append({"name": name, "values": values})
with open(f"{FOLDER}/expect.json", "w") as file:
    lines = ",\n".join(json.dumps(column, ensure_ascii=False) for column in columns)
    head = json.dumps({"target": "data", "content": {"rows": len(read)}})
    file.write(f'{head[:-2]}, "columns": [\n{lines}\n]}}}}\n')

FOLDER = f"{sys.argv[1]}/datasets_splits"
shutil.rmtree(FOLDER, ignore_errors=True)
os.makedirs(FOLDER)
features = datasets.Features({"text": datasets.Value("string"), "label": datasets.Value("int64")})
splits = {
    name: datasets.Dataset.from_dict(
        {"text": [f"{name} {i}" for i in range(count)], "label": list(range(count))}, features=features
    )
    for name, count in {"train": 5, "test": 2}.items()
}
datasets.DatasetDict(splits).save_to_disk(f"{FOLDER}/data", num_shards={"train": 2, "test": 1})
read = datasets.load_from_disk(f"{FOLDER}/data")
assert list(read) == ["train", "test"]
every = [row for split in read.values() for row in split]
columns = [
    {"name": "text", "values": [row["text"] for row in every]},
    {"name": "label", "values": [{"bigint": str(row["label"])} for row in every]},
]
with open(f"{FOLDER}/expect.json", "w") as file:
    lines = ",\n".join(json.dumps(column) for column in columns)
    head = json.dumps({"target": "data", "content": {"rows": len(every)}})
    file.write(f'{head[:-2]}, "columns": [\n{lines}\n]}}}}\n')
