"""Compares pread and mmap on a mount with the bytes of the container. argv: oracle.json mount"""
import json, mmap, os, random, sys

oracle = json.load(open(sys.argv[1]))
archive = os.open(oracle["archive"], os.O_RDONLY)
generator = random.Random(1)
checked = 0
for entry in oracle["files"]:
    path = os.path.join(sys.argv[2], entry["path"])
    size, start = entry["size"], entry["offset"]
    assert os.stat(path).st_size == size, path
    assert os.stat(path).st_blocks == (size + 511) // 512, path
    fd = os.open(path, os.O_RDONLY)
    for _ in range(30):
        offset = generator.randrange(size + 5000)
        length = generator.choice([0, 1, 511, 4096, 5000, 131072, 300000])
        expected = os.pread(archive, max(0, min(length, size - offset)), start + min(offset, size))
        assert os.pread(fd, length, offset) == expected, (path, offset, length)
        checked += 1
    assert os.pread(fd, 10, size) == b"" and os.pread(fd, 10, size + 10**12) == b""
    if size > 0:
        with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as view:
            for _ in range(30):
                offset = generator.randrange(size)
                length = min(generator.choice([1, 4096, 100000]), size - offset)
                assert view[offset:offset + length] == os.pread(archive, length, start + offset), path
                checked += 1
    os.close(fd)
print(checked)
