"""Compares a packed folder with the directory it was packed from.

Usage: walk_structure.py DIRECTORY FILE.ffr...

Reads the files with nothing but struct, pickle and zlib of the standard library, from the format's
description. Prints how many files and directories there were.
"""
import os
import pickle
import struct
import sys
import zlib
from collections import OrderedDict

directory, *parts = sys.argv[1:]
samples = []
for part in parts:
    with open(part, "rb") as file:
        data = file.read()
    checksum, count = struct.unpack_from("<Iq", data)
    end = 12 + 12 * count
    assert zlib.crc32(data[4:end]) == checksum, part
    checksums = struct.unpack_from(f"<{count}I", data, 12)
    offsets = struct.unpack_from(f"<{count}q", data, 12 + 4 * count)
    assert count == 0 or offsets[0] == end
    for i, start in enumerate(offsets):
        stop = offsets[i + 1] if i + 1 < count else len(data)
        samples.append(data[start:stop])
        assert zlib.crc32(samples[-1]) == checksums[i], (part, i)

structure = samples.pop()
assert structure[:9] == b"piouhjgbr"
root = pickle.loads(structure[9:])

files = directories = 0
os.chdir(directory)  # names and "..", since a path may be longer than the system allows
folders = [(root, iter(sorted(os.listdir("."))), [])]
while folders:
    folder, names, seen = folders[-1]
    assert type(folder) is OrderedDict
    name = next(names, None)
    if name is None:
        assert list(folder) == seen, "the names are in order, and there are no others"
        folders.pop()
        os.chdir("..")
        continue
    seen.append(name)
    packed = folder[name]
    if os.path.isdir(name):
        directories += 1
        os.chdir(name)
        folders.append((packed, iter(sorted(os.listdir("."))), []))
        continue
    assert type(packed) is int and packed == files, "files are numbered in their order"
    files += 1
    with open(name, "rb") as file:
        assert file.read() == samples[packed], name

assert files == len(samples)
print(files, directories)
