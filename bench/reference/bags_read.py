"""What bench/bags_read.ts compares with: the Python packages' DatasetReader, values as bytes.

  bags_read.py PACKAGE WAY DIRECTORY INDICES

PACKAGE is `bags` or `granular`. WAY is `raw` (all keys), `mask` (the keys `id` and `label`) or
`uncached` (all keys, the index left in its file). INDICES is a JSON file: a list of datapoints. They
are read once to warm up and once by the clock; prints the seconds of the second pass and how many
bytes came, as JSON.
"""

import importlib
import inspect
import json
import pathlib
import sys
import time

MASK = ("id", "label")


def read_all(reader, requests):
    size = 0
    for request in requests:
        for value in reader[request].values():
            size += len(value)
    return size


if __name__ == "__main__":
    package, way, directory, indices_path = sys.argv[1:]
    library = importlib.import_module(package)
    # The first ones call a decoder for every value; the later ones take None for raw bytes.
    parameters = inspect.signature(library.DatasetReader.__init__).parameters
    decoders = None if "parallel" in parameters else {"bytes": lambda value: value}
    reader = library.DatasetReader(
        pathlib.Path(directory), decoders, cache_index=way != "uncached"
    )
    with open(indices_path) as file:
        requests = json.load(file)
    if way == "mask":
        # Generation 3 takes a tuple of keys, those before it a dict.
        takes_dict = hasattr(reader, "available") or package == "bags"
        mask = {key: True for key in MASK} if takes_dict else MASK
        requests = [(index, mask) for index in requests]
    read_all(reader, requests)
    start = time.perf_counter()
    size = read_all(reader, requests)
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": size}))
    reader.close()
