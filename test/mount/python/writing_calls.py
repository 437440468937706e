"""Tries every call that writes. argv: mount, a file in it, a directory in it. Prints what did not end in EROFS."""
import errno, os, sys

mount, file, directory = sys.argv[1:]
new = os.path.join(mount, "new")
def opening(flags, path=file):
    return lambda: os.close(os.open(path, flags, 0o644))
calls = {
    "open for writing": opening(os.O_WRONLY),
    "open for reading and writing": opening(os.O_RDWR),
    "open for appending": opening(os.O_WRONLY | os.O_APPEND),
    "open truncating": opening(os.O_RDONLY | os.O_TRUNC),
    "creat": opening(os.O_WRONLY | os.O_CREAT, new),
    "creat exclusively": opening(os.O_WRONLY | os.O_CREAT | os.O_EXCL, new),
    "open a nameless file": lambda: os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR, 0o600)),
    "truncate": lambda: os.truncate(file, 0),
    "mkdir": lambda: os.mkdir(new),
    "rmdir": lambda: os.rmdir(directory),
    "unlink": lambda: os.unlink(file),
    "rename": lambda: os.rename(file, new),
    "rename a directory": lambda: os.rename(directory, new),
    "link": lambda: os.link(file, new),
    "symlink": lambda: os.symlink("x", new),
    "mkfifo": lambda: os.mkfifo(new),
    "chmod": lambda: os.chmod(file, 0o600),
    "chmod a directory": lambda: os.chmod(directory, 0o700),
    "chown": lambda: os.chown(file, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(file),
    "utime of a moment": lambda: os.utime(file, (1, 1)),
    "setxattr": lambda: os.setxattr(file, "user.a", b"b"),
    "removexattr": lambda: os.removexattr(file, "user.a"),
}
if os.getuid() == 0:
    calls["mknod"] = lambda: os.mknod(new, 0o600 | 0o020000, os.makedev(1, 3))
for name, call in calls.items():
    try:
        call()
        print(name, "succeeded")
    except OSError as error:
        if error.errno != errno.EROFS:
            print(name, error)
print(len(calls), "calls")
