"""Writes generations of a database: writer.py FILE.

A line of standard input is the number of transactions to commit next. Each replaces all values by texts of its number,
and then its number is printed.
"""
import sys

import lmdb

KEYS = 200

with lmdb.open(sys.argv[1], subdir=False, map_size=1 << 28, sync=False) as env:
    generation = 0
    for line in sys.stdin:
        for _ in range(int(line)):
            with env.begin(write=True) as txn:
                for key in range(KEYS):
                    size = 3000 if key % 10 == 0 else 30
                    text = b"%d " % generation
                    txn.put(b"%04d" % key, text.ljust(size, b"."))
            generation += 1
        print(generation - 1, flush=True)
