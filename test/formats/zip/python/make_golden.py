"""Writes test/golden/zip by Python's zipfile, Info-ZIP, bsdtar and 7-Zip: make_golden.py DIRECTORY.

What each zip holds is told by Python's zipfile, and not by what wrote it.
"""
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile

GOLDEN = os.path.abspath(sys.argv[1])
os.environ["LC_ALL"] = "C.UTF-8"
TIME = (2024, 2, 29, 12, 34, 56)


def expect(name, target, title):
    entries = {}
    with zipfile.ZipFile(f"{GOLDEN}/{name}/{target}") as zip:
        for info in zip.infolist():
            if info.is_dir() or (info.external_attr >> 16) & 0o170000 == 0o120000:
                continue
            data = zip.read(info)
            path = os.path.normpath(unix_name(info))
            entries[path] = {
                "path": path,
                "size": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
                "stored": info.compress_type == zipfile.ZIP_STORED,
            }
    facts = {
        "schema": "golden-expect/1",
        "case": f"zip/{name}",
        "format": "zip",
        "kind": "zip",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"entries": list(entries.values())},
    }
    with open(f"{GOLDEN}/{name}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def unix_name(info):
    """What Info-ZIP has written on Unix is in UTF-8 there, without the flag; zipfile takes it for code page 437."""
    if info.flag_bits & 0x800 or info.create_system != 3:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeDecodeError:
        return info.filename


def path_of(name, target):
    os.makedirs(f"{GOLDEN}/{name}", exist_ok=True)
    path = f"{GOLDEN}/{name}/{target}"
    if os.path.exists(path):
        os.remove(path)
    return path


random.seed(1)
FILES = {
    "a.txt": b"hello zip\n",
    "empty": b"",
    "d/deep/er/b.bin": random.randbytes(3000),
    "d/lines.txt": b"".join(b"line %d of text\n" % (i * i) for i in range(2000)),
    "d/grün.txt": "ä content\n".encode(),
    "日本/語.txt": b"names of Japan\n",
}


def member(name):
    return zipfile.ZipInfo(name, TIME)


def python():
    with zipfile.ZipFile(path_of("python", "t.zip"), "w") as zip:
        for i, (name, data) in enumerate(FILES.items()):
            zip.writestr(member(name), data, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][i % 2])
        zip.writestr(member("none/"), b"")
        zip.comment = b"a comment of the zip: " + b"x" * 300
    expect("python", "t.zip", "zipfile, with a comment")
    with zipfile.ZipFile(path_of("python_zip64", "t.zip"), "w") as zip:
        for i, (name, data) in enumerate(FILES.items()):
            info = member(name)
            info.compress_type = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][i % 2]
            with zip.open(info, "w", force_zip64=True) as file:
                file.write(data)
    expect("python_zip64", "t.zip", "zipfile, with the sizes of zip64 before contents")
    # An end of zip64: what is written where there are too many members, or bytes.
    limit, zipfile.ZIP_FILECOUNT_LIMIT = zipfile.ZIP_FILECOUNT_LIMIT, 3
    try:
        with zipfile.ZipFile(path_of("python_end64", "t.zip"), "w") as zip:
            for name, data in FILES.items():
                zip.writestr(member(name), data)
            zip.comment = b"behind an end of zip64"
    finally:
        zipfile.ZIP_FILECOUNT_LIMIT = limit
    expect("python_end64", "t.zip", "zipfile, with an end of zip64")

    class Pipe(io.RawIOBase):
        def __init__(self, file):
            self.file = file

        def writable(self):
            return True

        def write(self, data):
            return self.file.write(data)

    with open(path_of("python_pipe", "t.zip"), "wb") as file:
        with zipfile.ZipFile(Pipe(file), "w", zipfile.ZIP_DEFLATED) as zip:
            for i, (name, data) in enumerate(FILES.items()):
                method = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED][i % 2]
                zip.writestr(member(name), data, method)
    expect("python_pipe", "t.zip", "zipfile to a pipe: data descriptors")
    with open(path_of("python_sfx", "t.exe"), "wb") as file:
        file.write(b"#!/bin/sh\necho this is a program\nexit 0\n" + b"\0" * 1000)
        inside = io.BytesIO()
        with zipfile.ZipFile(inside, "w", zipfile.ZIP_DEFLATED) as zip:
            for name, data in FILES.items():
                zip.writestr(member(name), data)
        file.write(inside.getvalue())
    expect("python_sfx", "t.exe", "a program, and a zip behind it whose offsets do not count it")
    with open(path_of("python_twice", "t.zip"), "wb") as file:
        with zipfile.ZipFile(file, "w") as zip:
            zip.writestr(member("a.txt"), b"the first one")
            zip.writestr(member("b.txt"), b"between")
            import warnings
            warnings.simplefilter("ignore")
            zip.writestr(member("a.txt"), b"the last one wins")
            zip.writestr(member("./d/../d2".replace("../", "")), b"dots")
    expect("python_twice", "t.zip", "a name that comes twice")


def others():
    with tempfile.TemporaryDirectory() as top:
        for name, data in FILES.items():
            os.makedirs(os.path.dirname(f"{top}/{name}") or top, exist_ok=True)
            with open(f"{top}/{name}", "wb") as file:
                file.write(data)
        os.makedirs(f"{top}/none")
        stamp = time.mktime((*TIME, 0, 0, -1))
        for at, dirs, files in os.walk(top):
            for name in files + dirs:
                os.utime(f"{at}/{name}", (stamp, stamp))
        run = lambda *args, **more: subprocess.run(args, cwd=top, check=True, stdout=subprocess.DEVNULL, **more)
        names = sorted(os.listdir(top))
        run("zip", "-q", "-r", "-X", path_of("info_zip", "t.zip"), *names)
        expect("info_zip", "t.zip", "zip -r")
        run("zip", "-q", "-r", "-0", path_of("info_zip_stored", "t.zip"), *names)
        expect("info_zip_stored", "t.zip", "zip -r -0, with the times and owners of Unix")
        piped = subprocess.run(["zip", "-q", "-r", "-", *names], cwd=top, check=True, stdout=subprocess.PIPE)
        with open(path_of("info_zip_pipe", "t.zip"), "wb") as file:
            file.write(piped.stdout)
        expect("info_zip_pipe", "t.zip", "zip to a pipe")
        run("bsdtar", "--format", "zip", "-cf", path_of("bsdtar", "t.zip"), *names,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        expect("bsdtar", "t.zip", "bsdtar --format zip")
        run("7z", "a", "-tzip", "-mx=5", path_of("seven_zip", "t.zip"), *names,
            env={**os.environ, "LC_ALL": "C.UTF-8"})
        expect("seven_zip", "t.zip", "7z a -tzip")


def cp437():
    """As DOS wrote it: names in code page 437, and no flag."""
    path = path_of("cp437", "t.zip")
    with zipfile.ZipFile(path, "w") as zip:
        zip.writestr(member("gr\x81n.txt"), b"of DOS\n")
        zip.writestr(member("\xe0\xe1.txt"), b"Greek\n")
    with open(path, "rb") as file:
        data = file.read()
    # zipfile writes such names in UTF-8, with the flag.
    for old, new in (("gr\x81n", b"gr\x81n"), ("\xe0\xe1", b"\xe0\xe1")):
        assert data.count(old.encode()) == 2
        data = data.replace(old.encode() + b".txt", new + b".txt")
    fixed = bytearray()
    at = 0
    starts = []
    while data[at:at + 4] == b"PK\x03\x04":
        starts.append(len(fixed))
        size = int.from_bytes(data[at + 18:at + 22], "little")
        length = int.from_bytes(data[at + 26:at + 28], "little")
        real = data[at + 30:].index(b".txt") + 4
        header = bytearray(data[at:at + 30])
        header[6:8] = b"\0\0"
        header[26:28] = real.to_bytes(2, "little")
        fixed += header + data[at + 30:at + 30 + real + size]
        at += 30 + real + size
    directory = len(fixed)
    for start in starts:
        real = data[at + 46:].index(b".txt") + 4
        header = bytearray(data[at:at + 46])
        header[8:10] = b"\0\0"
        header[28:30] = real.to_bytes(2, "little")
        header[42:46] = start.to_bytes(4, "little")
        fixed += header + data[at + 46:at + 46 + real]
        at += 46 + real
    end = bytearray(data[at:])
    end[12:16] = (len(fixed) - directory).to_bytes(4, "little")
    end[16:20] = directory.to_bytes(4, "little")
    with open(path, "wb") as file:
        file.write(fixed + end)
    expect("cp437", "t.zip", "names in code page 437")


python()
others()
cp437()
