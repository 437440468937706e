"""What bench/formats/records.ts compares with: py-lmdb, and bagz.

  records.py write DIRECTORY COUNT SIZE
  records.py read WAY DIRECTORY INDICES BATCH

`write` writes the same records as `x.lmdb`, `x.bagz` (compressed), `x.bag` (not), and `x.rec` with `x.idx`. Bytes are
words of 400, which Zstandard makes half as long; those of `random.bagz` are random, which it stores as they are. WAY is
`lmdb`, `bagz` or `bagz-random`. INDICES is a JSON file: a list of records.
They are read one by one, or, with a BATCH above 1, by `read_indices`: once to warm up and once by the clock. Prints the
seconds of the second pass and how many bytes came, as JSON.
"""

import json
import random
import struct
import sys
import time

import bagz
import lmdb

MAGIC = 0xCED7230A


def write(directory, count, size):
    shuffle = random.Random(1)
    words = [shuffle.randbytes(6) for _ in range(400)]
    text = b"".join(shuffle.choice(words) for _ in range(size // 6 + count + 1))
    records = [text[i : i + size] for i in range(count)]
    plain = bagz.Writer.Options(compression=bagz.CompressionNone())
    noise = shuffle.randbytes(size + count)
    with bagz.Writer(f"{directory}/random.bagz") as stored:
        for i in range(count):
            stored.write(noise[i : i + size])
    with bagz.Writer(f"{directory}/x.bagz") as packed, bagz.Writer(f"{directory}/x.bag", plain) as unpacked:
        for record in records:
            packed.write(record)
            unpacked.write(record)
    room = 2 * count * (size + 8192)
    with lmdb.open(f"{directory}/x.lmdb", subdir=False, map_size=room) as env:
        with env.begin(write=True) as transaction:
            for i, record in enumerate(records):
                transaction.put(b"%08d" % i, record)
    with open(f"{directory}/x.rec", "wb") as file, open(f"{directory}/x.idx", "w") as index:
        for i, record in enumerate(records):
            index.write(f"{i}\t{file.tell()}\n")
            file.write(struct.pack("<II", MAGIC, size) + record + bytes(-size % 4))


def reading(way, directory, indices, batch):
    """A function that reads all records, and returns their bytes."""
    if way == "lmdb":
        env = lmdb.open(f"{directory}/x.lmdb", subdir=False, readonly=True, lock=False)
        transaction = env.begin()
        keys = [b"%08d" % i for i in indices]
        return lambda: sum(len(transaction.get(key)) for key in keys)
    name = "random" if way == "bagz-random" else "x"
    reader = bagz.Reader(f"{directory}/{name}.bagz")
    if batch == 1:
        return lambda: sum(len(reader[i]) for i in indices)
    batches = [indices[at : at + batch] for at in range(0, len(indices), batch)]
    return lambda: sum(len(record) for one in batches for record in reader.read_indices(one))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        with open(sys.argv[4]) as file:
            read_all = reading(sys.argv[2], sys.argv[3], json.load(file), int(sys.argv[5]))
        read_all()
        start = time.perf_counter()
        size = read_all()
        print(json.dumps({"seconds": time.perf_counter() - start, "bytes": size}))
