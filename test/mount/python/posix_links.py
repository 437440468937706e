"""Makes system calls on a symbolic link and prints the results as JSON.

Argument: a tree that holds a file `000000` and a link to it, `epoch-0000/00000000`.
"""
import os
import stat
import sys

from outcomes import call, opened, report, system

os.chdir(sys.argv[1])
LINK = "epoch-0000/00000000"
SELF = {"follow_symlinks": False}
PATH_ONLY = os.O_PATH | os.O_NOFOLLOW

call("readlink", os.readlink, LINK)
call("readlinkat of the link itself", opened, LINK, PATH_ONLY, lambda fd: os.readlink("", dir_fd=fd))
call("target", lambda: os.path.relpath(os.path.realpath(LINK)))
call("mode and size of the link", lambda: [oct(os.lstat(LINK).st_mode), os.lstat(LINK).st_size])
call("mode and size of the file", lambda: [oct(os.stat(LINK).st_mode), os.stat(LINK).st_size])
call("same file", os.path.samefile, LINK, "000000")
call("a link in a listing", lambda: [[e.name, e.is_symlink(), e.is_file()] for e in os.scandir("epoch-0000")])
call("read", opened, LINK, os.O_RDONLY, lambda fd: len(os.read(fd, 9000)))
call("read without following", opened, LINK, os.O_RDONLY | os.O_NOFOLLOW)
call("open of the link itself", opened, LINK, PATH_ONLY, lambda fd: stat.S_ISLNK(os.fstat(fd).st_mode))
call("the link as a directory", opened, LINK, os.O_RDONLY | os.O_DIRECTORY)
call("the link with a slash", opened, f"{LINK}/", os.O_RDONLY)
call("what is below the link", os.stat, f"{LINK}/below")
call("what is below the link's directory", lambda: os.stat("epoch-0000/../000000").st_size)
call("readlink of a directory", os.readlink, "epoch-0000")
call("readlink of what is not there", os.readlink, "epoch-0000/missing")
call("open to write", opened, LINK, os.O_WRONLY)
call("creat", opened, LINK, os.O_WRONLY | os.O_CREAT)
call("creat exclusively", opened, LINK, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
call("truncate", os.truncate, LINK, 0)
call("unlink", os.unlink, LINK)
call("rmdir", os.rmdir, LINK)
call("rename", os.rename, LINK, "new")
call("rename over it", os.rename, "000000", LINK)
call("link to the link", os.link, LINK, "new", **SELF)
call("symlink over it", os.symlink, "x", LINK)
call("symlink beside it", os.symlink, "x", f"{LINK}-new")
call("mkdir over it", os.mkdir, LINK)
call("chmod", os.chmod, LINK, 0o600)
call("lchown", os.lchown, LINK, os.getuid(), os.getgid())
call("chown", os.chown, LINK, os.getuid(), os.getgid())
call("utime of the link", os.utime, LINK, (1, 1), **SELF)
call("utime", os.utime, LINK, (1, 1))
call("setxattr of the link", os.setxattr, LINK, "trusted.a", b"b", **SELF)
call("access", lambda: system("access", LINK.encode(), os.R_OK))
call("access to write", lambda: system("access", LINK.encode(), os.W_OK))
report()
