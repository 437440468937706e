"""Writes test/golden/tar by Python's tarfile, GNU tar and bsdtar: make_golden.py DIRECTORY.

What each tar holds is told by Python's tarfile, and not by what wrote it.
"""
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

GOLDEN = sys.argv[1]


def expect(name, target, title):
    path = f"{GOLDEN}/{name}/{target}"
    shards = sorted(os.listdir(path)) if os.path.isdir(path) else [None]
    entries = []
    for shard in shards:
        tar = path if shard is None else f"{path}/{shard}"
        prefix = "" if shard is None else shard.removesuffix(".tar") + "/"
        entries += [{**entry, "path": prefix + entry["path"]} for entry in content(tar)]
    facts = {
        "schema": "golden-expect/1",
        "case": f"tar/{name}",
        "format": "tar",
        "kind": "tar",
        "target": target,
        "title": title,
        "valid": True,
        "content": {"entries": entries},
    }
    with open(f"{GOLDEN}/{name}/expect.json", "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")


def content(path):
    found = {}
    with tarfile.open(path) as tar:
        for member in tar:
            name = os.path.normpath(member.name)
            # A hard link is the same file as its target, times included.
            file = tar._find_link_target(member) if member.islnk() else member
            entry = {"path": name, "mtime": int(file.mtime * 1000)}
            if member.issym():
                found[name] = {**entry, "link": member.linkname}
            elif member.isreg() or member.islnk():
                data = tar.extractfile(member).read()
                found[name] = {
                    **entry,
                    "size": len(data),
                    "sha256": hashlib.sha256(data).hexdigest(),
                }
            else:
                continue
    return list(found.values())


def add(tar, name, data=b"", mtime=1_000_000_000, **more):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mtime = mtime
    for key, value in more.items():
        setattr(member, key, value)
    tar.addfile(member, io.BytesIO(data))


def npy(values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head = head.ljust(117) + "\n"
    import struct

    return (
        b"\x93NUMPY\x01\x00"
        + len(head).to_bytes(2, "little")
        + head.encode()
        + struct.pack(f"<{len(values)}f", *values)
    )


def make(name):
    os.makedirs(f"{GOLDEN}/{name}", exist_ok=True)
    return f"{GOLDEN}/{name}"


LONG = "long/" + "directory_" * 12 + "/" + "name_" * 30 + ".bin"


def odd(format, name):
    with tarfile.open(f"{make(name)}/odd.tar", "w", format=format) as tar:
        add(tar, "./a.txt", b"first")
        add(tar, "empty")
        add(tar, "d", type=tarfile.DIRTYPE, mtime=5)
        add(tar, "d/b.bin", bytes(range(256)) * 5, mtime=7.25)
        add(tar, "no/entry/of/parents.txt", b"x" * 512)
        add(tar, "a.txt", b"the last one wins")
        add(tar, "d/hard", type=tarfile.LNKTYPE, linkname="d/b.bin")
        add(tar, "d/soft", type=tarfile.SYMTYPE, linkname="../a.txt")
        add(tar, "dir-link", type=tarfile.SYMTYPE, linkname="no/entry")
        add(tar, "dangling", type=tarfile.SYMTYPE, linkname="nowhere")
        add(tar, "déjà vu/名.txt", "é".encode())
        if format != tarfile.USTAR_FORMAT:
            add(tar, LONG, b"long")
            add(tar, "long/link", type=tarfile.SYMTYPE, linkname=LONG.removeprefix("long/"))
    expect(name, "odd.tar", f"odd members by Python's tarfile, format {format}")


odd(tarfile.USTAR_FORMAT, "python_ustar")
odd(tarfile.PAX_FORMAT, "python_pax")
odd(tarfile.GNU_FORMAT, "python_gnu")


def samples(tar, first, count, directory=""):
    for i in range(first, first + count):
        key = f"{directory}{i:03d}"
        # WebDataset gives times with fractions, so that there are extended headers.
        time = 1_700_000_000 + i / 4
        add(tar, f"{key}.cls", b"%d" % i, time)
        add(tar, f"{key}.txt", f"text of {i}\n".encode(), time)
        add(tar, f"{key}.meta.json", json.dumps({"i": i, "half": i / 2}).encode(), time)
        add(tar, f"{key}.npy", npy([i, i + 0.5]), time)
        add(tar, f"{key}.bin", bytes([i] * i), time)


with tarfile.open(f"{make('webdataset')}/pairs.tar", "w") as tar:
    samples(tar, 0, 12, "train/")
expect("webdataset", "pairs.tar", "samples as WebDataset's TarWriter has them")

os.makedirs(f"{make('shards')}/data", exist_ok=True)
for shard in range(3):
    with tarfile.open(f"{GOLDEN}/shards/data/train-{shard:06d}.tar", "w") as tar:
        samples(tar, 5 * shard, 5)
expect("shards", "data", "three shards of samples")


def folder(directory):
    def write(name, data):
        path = f"{directory}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        os.utime(path, (1_234_567_890, 1_234_567_890))

    write("x/one.txt", b"1")
    write("x/" + "n" * 200, b"long name")
    write("/".join(["deep" * 10] * 6) + "/file", b"deep")
    write("zero", b"")
    write("large.bin", b"large" * 3_000)
    os.link(f"{directory}/x/one.txt", f"{directory}/x/two.txt")
    os.symlink("one.txt", f"{directory}/x/link")
    os.symlink("x", f"{directory}/to-x")


with tempfile.TemporaryDirectory() as directory:
    folder(directory)
    for kind in ["gnu", "oldgnu", "pax", "posix", "v7"]:
        made = make(f"gnu_tar_{kind}")
        skipped = ["--exclude", "n" * 200, "--exclude", "deep*"] if kind == "v7" else []
        order = ["--sort=name", "--owner=0", "--group=0"]
        subprocess.run(
            ["tar", *order, *skipped, f"--format={kind}", "-cf", f"{made}/t.tar", "-C", directory, "."],
            check=True,
        )
        expect(f"gnu_tar_{kind}", "t.tar", f"a folder by GNU tar, format {kind}")
    for kind in ["ustar", "pax", "gnutar"]:
        made = make(f"bsdtar_{kind}")
        skipped = ["--exclude", "n" * 200, "--exclude", "deep*"] if kind == "ustar" else []
        subprocess.run(
            ["bsdtar", *skipped, "--uid", "0", "--gid", "0", f"--format={kind}", "-cf", f"{made}/t.tar", "-C", directory, "."],
            check=True,
        )
        expect(f"bsdtar_{kind}", "t.tar", f"a folder by bsdtar, format {kind}")
