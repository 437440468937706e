"""What bench/bags_write.ts compares with: granular's DatasetWriter, values as bytes.

  bags_write.py DIRECTORY COUNT SIZE...

Appends COUNT datapoints whose keys `a`, `b`, … have so many bytes each, then closes the dataset.
Prints the seconds that took, as JSON.
"""

import json
import os
import pathlib
import sys
import time

import granular

WINDOWS = 64

if __name__ == "__main__":
    directory, count, *sizes = sys.argv[1:]
    keys = {chr(ord("a") + i): int(size) for i, size in enumerate(sizes)}
    block = os.urandom(max(keys.values()) + WINDOWS)
    datapoints = [
        {key: block[i : i + size] for key, size in keys.items()} for i in range(WINDOWS)
    ]
    start = time.perf_counter()
    writer = granular.DatasetWriter(
        pathlib.Path(directory), {key: "bytes" for key in keys}, None
    )
    for i in range(int(count)):
        writer.append(datapoints[i % WINDOWS])
    writer.close()
    print(json.dumps({"seconds": time.perf_counter() - start}))
