"""Says which files of a directory safetensors reads: read_all.py DIRECTORY."""
import json
import os
import sys

from safetensors import deserialize

read = []
for name in os.listdir(sys.argv[1]):
    with open(f"{sys.argv[1]}/{name}", "rb") as file:
        try:
            deserialize(file.read())
            read.append(name.removesuffix(".safetensors"))
        except Exception:
            pass
print(json.dumps(read))
