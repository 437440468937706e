"""Reads files of known content in random order, bypassing the kernel's cache, until standard input ends.

Arguments: a directory of numbered files, their number, their size in bytes, a seed, the minimum number of files to
read even if standard input has ended, and a pause after each in milliseconds. File N contains the 4-byte integer N,
repeated. Prints the number of files read, and the mismatches.
"""
import os
import random
import select
import sys

directory, count, size, seed, least, pause = sys.argv[1], *map(int, sys.argv[2:])
order = random.Random(seed)
read = 0
wrong = []
while not select.select([0], [], [], pause / 1000)[0] or read < least:
    number = order.randrange(count)
    try:
        with open(f"{directory}/{number:06}", "rb") as file:
            data = file.read()
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if data != number.to_bytes(4, "little") * (size // 4):
            wrong.append(f"{number} differs")
    except OSError as error:
        wrong.append(f"{number}: {error}")
    read += 1
print(read, *wrong[:10], sep="\n")
