"""Reads files of known content in random order, past the kernel's cache, until standard input ends.

Arguments: a directory with files named by number, how many there are, bytes of each, a seed, how many files
to read at least, also when standard input has ended, and how many milliseconds to wait after each. File N holds N
as 4 bytes, over and over. Prints how many were read, and what was wrong.
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
