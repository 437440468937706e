"""Decodes all frames below a directory with Pillow, and prints the result for each video as JSON."""

import hashlib
import json
import os
import sys

from PIL import Image


def see(directory):
    joined = hashlib.sha256()
    frames = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name == "meta.json":
            with open(path) as file:
                meta = json.load(file)
            continue
        with open(path, "rb") as file:
            joined.update(file.read())
        with Image.open(path) as image:
            pixels = hashlib.sha256(image.tobytes()).hexdigest()
            frames.append([image.mode, image.width, image.height, pixels])
    return {"bytes": joined.hexdigest(), "meta": meta, "frames": frames}


root = sys.argv[1]
videos = [name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))]
print(json.dumps({name: see(os.path.join(root, name)) for name in videos}))
