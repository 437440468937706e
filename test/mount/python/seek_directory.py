"""Goes back and forth in a large directory by telldir and seekdir. argv: directory, number of entries"""
import ctypes, random, sys

libc = ctypes.CDLL("libc.so.6", use_errno=True)
class Entry(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_uint16),
                ("type", ctypes.c_uint8), ("name", ctypes.c_char * 256)]
libc.opendir.restype = ctypes.c_void_p
libc.readdir.argtypes = [ctypes.c_void_p]
libc.readdir.restype = ctypes.POINTER(Entry)
libc.telldir.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
libc.closedir.argtypes = [ctypes.c_void_p]

handle = libc.opendir(sys.argv[1].encode())
assert handle
places, names, numbers = [], [], []
while True:
    place = libc.telldir(handle)
    entry = libc.readdir(handle)
    if not entry:
        end = place
        break
    places.append(place)
    names.append(entry.contents.name)
    numbers.append(entry.contents.ino)
assert len(set(names)) == len(names) == int(sys.argv[2]) + 2, len(names)
assert set(names) >= {b".", b".."}
generator = random.Random(1)
for _ in range(300):
    i = generator.randrange(len(names))
    libc.seekdir(handle, places[i])
    for k in range(i, min(i + generator.choice([1, 3, 500]), len(names))):
        entry = libc.readdir(handle)
        assert entry and entry.contents.name == names[k] and entry.contents.ino == numbers[k], (i, k)
libc.seekdir(handle, end)
assert not libc.readdir(handle)
libc.closedir(handle)
print(len(names))
