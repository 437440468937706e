"""What bench/open_packed.ts compares with: Python's own pickle on a packed folder's names.

  packed_folder.py structure DIRS FILES   writes the last sample of such a folder to stdout
  packed_folder.py open FFR TIMES         prints how long each reading of it took, in ms, as JSON
"""

import collections
import json
import pickle
import struct
import sys
import time

MARK = b"piouhjgbr"


def structure(dirs, files):
    """Names as the Python library pickles them: nested, each with the index of its sample."""
    root = collections.OrderedDict()
    for d in range(dirs):
        root[f"n{d:08d}"] = collections.OrderedDict(
            (f"n{d:08d}_{f:05d}.JPEG", d * files + f) for f in range(files)
        )
    sys.stdout.buffer.write(MARK + pickle.dumps(root))


def read_names(path):
    """The least that any reader must do: find the last sample, read it, unpickle it."""
    with open(path, "rb") as file:
        count = struct.unpack("<q", file.read(12)[4:])[0]
        file.seek(12 + 12 * count - 8)
        file.seek(struct.unpack("<q", file.read(8))[0] + len(MARK))
        return pickle.loads(file.read())


def time_reading(path, times):
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        names = read_names(path)
        taken.append((time.perf_counter() - start) * 1000)
        del names  # freeing it is not part of opening
    print(json.dumps(taken))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "structure":
        structure(int(arguments[0]), int(arguments[1]))
    else:
        time_reading(arguments[0], int(arguments[1]))
