"""Makes system calls on a tree and prints the results as JSON: "ok", the returned value, or the name of the error.

Arguments: the tree, and a directory elsewhere that can be written. The tree must hold a file `file` of 5000
bytes, an empty file `none`, a directory `dir` with an entry `dir/inner`, and an empty directory `empty`.
"""
import errno
import fcntl
import mmap
import os
import socket
import stat
import sys
import threading

from outcomes import call, opened, report, results, system

tree, elsewhere = sys.argv[1:]
outside = os.path.join(elsewhere, "outside")
with open(outside, "wb") as created:
    created.write(b"outside")
FILE, NONE, DIR, EMPTY, INNER = "file", "none", "dir", "empty", "dir/inner"
LONG, TOO_LONG = "n" * 255, "n" * 256
os.chdir(tree)


def bind(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)


# Calls that create an entry, for existing, missing and impossible paths.
creating = {
    "mkdir": os.mkdir,
    "mkfifo": os.mkfifo,
    "mknod": lambda path: os.mknod(path, stat.S_IFREG | 0o644),
    "mknod of a device": lambda path: os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 3)),
    "symlink": lambda path: os.symlink("target", path),
    "link": lambda path: os.link(FILE, path),
    "creat": lambda path: opened(path, os.O_WRONLY | os.O_CREAT),
    "creat exclusively": lambda path: opened(path, os.O_RDWR | os.O_CREAT | os.O_EXCL),
    "creat to read": lambda path: opened(path, os.O_RDONLY | os.O_CREAT),
    "bind": bind,
}
# Calls on an existing entry.
changing = {
    "rmdir": os.rmdir,
    "unlink": os.unlink,
    "rename": lambda path: os.rename(path, "new"),
    "rename over a file": lambda path: os.rename(path, NONE),
    "rename over a directory": lambda path: os.rename(path, EMPTY),
    "chmod": lambda path: os.chmod(path, 0o600),
    "lchown": lambda path: os.lchown(path, os.getuid(), os.getgid()),
    "chown": lambda path: os.chown(path, os.getuid(), os.getgid()),
    "chown to somebody else": lambda path: os.chown(path, 12345, 12345),
    "utime now": os.utime,
    "utime": lambda path: os.utime(path, (1, 1)),
    "utime of a link": lambda path: os.utime(path, (1, 1), follow_symlinks=False),
    "truncate": lambda path: os.truncate(path, 0),
    "truncate longer": lambda path: os.truncate(path, 1 << 20),
    "setxattr": lambda path: os.setxattr(path, "user.a", b"b"),
    "removexattr": lambda path: os.removexattr(path, "user.a"),
    "open to write": lambda path: opened(path, os.O_WRONLY),
    "open to read and write": lambda path: opened(path, os.O_RDWR),
    "open to append": lambda path: opened(path, os.O_WRONLY | os.O_APPEND),
    "open to truncate": lambda path: opened(path, os.O_RDONLY | os.O_TRUNC),
    "open a nameless file": lambda path: opened(path, os.O_TMPFILE | os.O_RDWR),
    "access to write": lambda path: opened(path, os.O_PATH, lambda fd: system(
        "faccessat", fd, b"", os.W_OK, 0x1000)),
}
places = {
    "a file": FILE,
    "a directory": DIR,
    "an empty directory": EMPTY,
    "what is not there": "missing",
    "a name of 255 bytes": LONG,
    "a name of 256 bytes": TOO_LONG,
    "a path of 5000 bytes": "./" * 2500 + FILE,
    "what is below a file": f"{FILE}/below",
    "what is below nothing": "missing/below",
    "a file with a slash": f"{FILE}/",
    "the root": ".",
    "the parent": f"{DIR}/..",
}
for place, path in places.items():
    for what, function in {**creating, **changing}.items():
        call(f"{what}: {place}", function, path)

# On read-only descriptors.
for path in [FILE, DIR]:
    descriptor = os.open(path, os.O_RDONLY)
    call(f"fchmod of {path}", os.fchmod, descriptor, 0o600)
    call(f"fchown of {path}", os.fchown, descriptor, os.getuid(), os.getgid())
    call(f"futimens of {path}", os.utime, descriptor)
    call(f"fsetxattr of {path}", os.setxattr, descriptor, "user.a", b"b")
    call(f"ftruncate of {path}", os.ftruncate, descriptor, 0)
    call(f"write of {path}", os.write, descriptor, b"x")
    call(f"fallocate of {path}", os.posix_fallocate, descriptor, 0, 10)
    call(f"fsync of {path}", os.fsync, descriptor)
    call(f"fdatasync of {path}", os.fdatasync, descriptor)
    call(f"syncfs of {path}", system, "syncfs", descriptor)
    os.close(descriptor)
call("rename into the tree", os.rename, outside, "new")
call("rename out of the tree", os.rename, FILE, os.path.join(elsewhere, "new"))
call("link into the tree", os.link, outside, "new")
call("link out of the tree", os.link, FILE, os.path.join(elsewhere, "new"))
call("exchange", system, "renameat2", -100, b"file", -100, b"none", 2)
call("connect to a file", connect, FILE)
call("readlink of a file", os.readlink, FILE)
call("chdir to a file", os.chdir, FILE)
call("listing of a file", os.listdir, FILE)
call("a directory as a file", opened, FILE, os.O_RDONLY | os.O_DIRECTORY)
call("a file without following", opened, FILE, os.O_RDONLY | os.O_NOFOLLOW)
for path in [FILE, DIR, "missing", f"{FILE}/below", f"{FILE}/", TOO_LONG, "x/" * 2048 + "x"]:
    name = path if len(path) < 20 else f"{path[:5]}... of {len(path)} bytes"
    call(f"stat of {name}", lambda: oct(os.stat(path).st_mode))
    for mode in [os.F_OK, os.R_OK, os.W_OK, os.X_OK]:
        call(f"access {mode} of {name}", lambda: system("access", path.encode(), mode))
    call(f"open of {name}", opened, path, os.O_RDONLY)


def cursor(path):
    """Seeks in a file, also for data and holes."""
    size = os.stat(path).st_size
    found = {}

    def seek(fd):
        for whence in [os.SEEK_SET, os.SEEK_CUR, os.SEEK_END, os.SEEK_DATA, os.SEEK_HOLE]:
            for offset in [0, 1, size - 1, size, size + 1, 1 << 40, -1]:
                os.lseek(fd, 0, os.SEEK_SET)
                try:
                    found[f"{whence} {offset}"] = os.lseek(fd, offset, whence)
                except OSError as error:
                    found[f"{whence} {offset}"] = errno.errorcode[error.errno]

    opened(path, os.O_RDONLY, seek)
    return found


def reads(path):
    """Reads at, around and far past the end."""
    size = os.stat(path).st_size
    ends = [0, 1, 4095, 4096, size - 1, size, size + 1, 1 << 31, 1 << 32, (1 << 63) - 9001]
    return opened(path, os.O_RDONLY, lambda fd: [len(os.pread(fd, 9000, at)) for at in ends if at >= 0])


def direct(path):
    """Reads with O_DIRECT."""
    with mmap.mmap(-1, 8192) as buffer:
        flags = os.O_RDONLY | os.O_DIRECT
        length = opened(path, flags, lambda fd: os.preadv(fd, [buffer], 0))
        with open(path, "rb") as file:
            return [length, buffer[:length] == file.read()]


def mapped(path, protection, flags):
    """Maps a file."""
    opened(path, os.O_RDONLY, lambda fd: mmap.mmap(fd, 4096, flags, protection).close())


def locks(path):
    """Advisory locks: of the process, of the descriptor, and by flock(2)."""
    found = {}

    def lock(fd):
        for name, set_lock in {
            "shared": lambda: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB),
            "exclusive": lambda: fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
            "flock": lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
            "flock again": lambda: opened(
                path, os.O_RDONLY, lambda other: fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)),
        }.items():
            try:
                set_lock()
                found[name] = "ok"
            except OSError as error:
                found[name] = errno.errorcode[error.errno]

    opened(path, os.O_RDONLY, lock)
    return found


def parallel(path):
    """Opens and reads one file from many threads at once."""
    found = []

    def one():
        with open(path, "rb") as file:
            found.append(len(file.read()))

    threads = [threading.Thread(target=one) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def leak():
    """Opens and closes files, also missing ones, and returns the number of leaked descriptors."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        opened(FILE, os.O_RDONLY, lambda fd: os.read(fd, 1))
        os.listdir(DIR)
        try:
            os.open("missing", os.O_RDONLY)
        except FileNotFoundError:
            pass
    return len(os.listdir("/proc/self/fd")) - before


def same_inode(path):
    """Whether a listing, stat and fstat agree on the inode and type of an entry."""
    [entry] = [entry for entry in os.scandir(os.path.dirname(path) or ".") if entry.name == os.path.basename(path)]
    known = os.stat(path)
    held = opened(path, os.O_RDONLY, os.fstat)
    return [entry.inode() == known.st_ino == held.st_ino, entry.is_dir(), known.st_dev == held.st_dev]


for path in [FILE, NONE]:
    call(f"seeking in {path}", cursor, path)
    call(f"reading {path}", reads, path)
    call(f"reading {path} directly", direct, path)
    call(f"locks of {path}", locks, path)
    call(f"16 openings of {path}", parallel, path)
call("descriptors lost", leak)
call("openat", lambda: opened(DIR, os.O_RDONLY, lambda fd: len(os.read(os.open("inner", os.O_RDONLY, dir_fd=fd), 9))))
call("read of a directory", opened, DIR, os.O_RDONLY, lambda fd: os.read(fd, 10).decode())
for path in [FILE, DIR, INNER]:
    call(f"who is {path}", same_inode, path)
call("listing", lambda: sorted(os.listdir(".")))
call("listing twice", lambda: os.listdir(".") == os.listdir("."))
for name, protection, flags in [
    ("to read", mmap.PROT_READ, mmap.MAP_SHARED),
    ("to write", mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED),
    ("to write a copy", mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE),
]:
    call(f"map {name}", mapped, FILE, protection, flags)
for path in [FILE, DIR]:
    known = os.stat(path)
    facts = [oct(known.st_mode), known.st_nlink, known.st_size, known.st_uid - os.getuid(), known.st_gid - os.getgid()]
    results[f"facts of {path}"] = facts
    call(f"getxattr of {path}", lambda: os.getxattr(path, "user.a").decode())
    call(f"listxattr of {path}", os.listxattr, path)
known = os.statvfs(".")
results["read-only"] = bool(known.f_flag & os.ST_RDONLY)
results["longest name"] = known.f_namemax
results["nothing free"] = [known.f_bavail, known.f_favail]
report()
