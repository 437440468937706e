"""Writes WebP, AVIF, GIF and TIFF pictures of every kind, and the pixels of each as Pillow reads them.

Usage: write_pictures.py DIRECTORY. Next to each picture are NAME.rgb and NAME.rgba, three and four bytes a pixel.
index.json has [mode, width, height] by name. Pictures that Pillow reads in another way (16-bit gray is clipped, TIFFs are
turned) have their pixels computed by NumPy.
"""
import io
import json
import os
import struct
import sys

import numpy as np
from PIL import Image

os.chdir(sys.argv[1])
WIDTH, HEIGHT = 61, 45
y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
pixels = np.stack([x * 3 + 20, y * 4 + 10, x + y * 2 + 40], -1).astype(np.uint8)
first = pixels[..., 0]
alpha = ((x + y) * 3 % 256).astype(np.uint8)
alpha[:10] = 0
rgb = Image.fromarray(pixels)
rgba = Image.fromarray(np.dstack([pixels, alpha]))
gray = rgb.convert("L")
colors = rgb.convert("P", palette=Image.ADAPTIVE, colors=64)
other = rgb.transpose(Image.ROTATE_180)
index = {}


def put(name, mode, shape, rgb_bytes, rgba_bytes):
    index[name] = [mode, shape[0], shape[1]]
    open(name + ".rgb", "wb").write(rgb_bytes)
    open(name + ".rgba", "wb").write(rgba_bytes)


def read(name):
    image = Image.open(name)
    put(name, image.mode, image.size, image.convert("RGB").tobytes(), image.convert("RGBA").tobytes())


def save(name, image, **options):
    image.save(name, **options)
    read(name)


def known(name, mode, array, alpha=None):
    """Gives a picture's pixels, of 8 bits."""
    if array.ndim == 2:
        array = np.dstack([array] * 3)
    if alpha is None:
        alpha = np.full(array.shape[:2], 255, np.uint8)
    height, width = array.shape[:2]
    put(name, mode, (width, height), array.tobytes(), np.dstack([array, alpha]).tobytes())


def exif(orientation):
    tags = Image.Exif()
    tags[0x112] = orientation
    return tags


# WebP
save("lossy.webp", rgb, quality=80)
save("lossless.webp", rgb, lossless=True)
save("gray.webp", gray)
save("alpha.webp", rgba, lossless=True, exact=True)
save("alpha_lossy.webp", rgba, quality=80)
save("frames.webp", rgb, save_all=True, append_images=[other], duration=100)
save("frames_alpha.webp", rgba, save_all=True, append_images=[other.convert("RGBA")], duration=100, lossless=True)
save("turned.webp", rgb, exif=exif(6))


def webp_frames(name, frame, flags):
    """Writes two frames that are smaller than their canvas (RFC 9649, 2.7)."""
    uint24 = lambda number: struct.pack("<I", number)[:3]
    file = io.BytesIO()
    frame.save(file, "WEBP", lossless=True, exact=True)
    image = file.getvalue()[12:]
    if image[:4] == b"VP8X":
        image = image[18:]
    body = uint24(2) + uint24(3) + uint24(WIDTH - 1) + uint24(HEIGHT - 1) + uint24(100) + b"\0" + image
    all = b"VP8X" + struct.pack("<I", 10) + bytes([flags, 0, 0, 0]) + uint24(79) + uint24(59)
    all += b"ANIM" + struct.pack("<I", 6) + b"\x11\x22\x33\x44\0\0"
    all += (b"ANMF" + struct.pack("<I", len(body)) + body) * 2
    open(name, "wb").write(b"RIFF" + struct.pack("<I", len(all) + 4) + b"WEBP" + all)
    read(name)


webp_frames("small_frame.webp", rgb, 0x02)
webp_frames("small_frame_alpha.webp", rgba, 0x12)

# AVIF
for subsampling in ["4:4:4", "4:2:2", "4:2:0", "4:0:0"]:
    save(f"{subsampling.replace(':', '')}.avif", rgb, subsampling=subsampling, quality=90, speed=8)
save("lossless.avif", rgb, quality=100, subsampling="4:4:4", speed=8)
save("gray.avif", gray, speed=8)
save("alpha.avif", rgba, quality=90, speed=8)
save("frames.avif", rgb, save_all=True, append_images=[other], speed=8)
for orientation in range(1, 9):
    save(f"turned{orientation}.avif", rgb, quality=95, subsampling="4:4:4", speed=8, exif=exif(orientation))

# GIF
save("rgb.gif", rgb)
save("gray.gif", gray)
save("palette.gif", colors)
save("transparent.gif", colors, transparency=5)
save("interlaced.gif", colors, interlace=1)
save("frames.gif", colors, save_all=True, append_images=[other.convert("P")], duration=50)
save("alpha.gif", rgba)
save("bits.gif", gray.convert("1"))


def gif(name, screen, frame, transparent=None, is_local=False, background=0):
    """Writes a frame anywhere on a screen; codes of 3 bits, cleared before they would grow (GIF89a, Appendix F)."""
    palette = bytes([10, 20, 30, 200, 0, 0, 0, 200, 0, 0, 0, 200])
    data = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x01 if is_local else 0x81, background, 0)
    if not is_local:
        data += palette
    data += b"\x21\xfe\x05hello\0"
    if transparent is not None:
        data += b"\x21\xf9\x04" + struct.pack("<BHBB", 1, 0, transparent, 0)
    data += b"," + struct.pack("<HHHHB", *frame, 0x81 if is_local else 0)
    if is_local:
        data += palette
    codes = []
    for i in range(frame[2] * frame[3]):
        codes += [4, i % 4] if i % 2 == 0 else [i % 4]
    bits = [code >> i & 1 for code in codes + [5] for i in range(3)]
    stream = np.packbits(bits, bitorder="little").tobytes()
    data += b"\x02" + bytes([len(stream)]) + stream + b"\0;"
    open(name, "wb").write(data)
    read(name)


gif("whole.gif", (8, 6), (0, 0, 8, 6))
gif("local.gif", (8, 6), (0, 0, 8, 6), is_local=True)
gif("small.gif", (8, 6), (2, 1, 4, 3), background=2)
gif("small_local.gif", (8, 6), (2, 1, 4, 3), is_local=True)
gif("small_transparent.gif", (8, 6), (2, 1, 4, 3), transparent=2, background=3)
gif("small_local_transparent.gif", (8, 6), (2, 1, 4, 3), transparent=1, is_local=True)
gif("beyond.gif", (8, 6), (4, 3, 8, 6))
gif("beyond_transparent.gif", (8, 6), (4, 3, 8, 6), transparent=1)
gif("no_screen.gif", (0, 0), (0, 0, 8, 6))
gif("screen_of_old.gif", (640, 480), (2, 1, 4, 3))  # a size that libnsgif does not believe
gif("large_screen_transparent.gif", (2100, 30), (2, 1, 4, 3), transparent=1)
small_frame = open("small.gif", "rb").read()
at = small_frame.index(b",", 13 + 12)
second = bytearray(small_frame[at:-1])
second[1:5] = struct.pack("<HH", 9, 9)  # beyond the screen
open("second_beyond.gif", "wb").write(small_frame[:-1] + bytes(second) + b";")
read("second_beyond.gif")

# TIFF, by Pillow's libtiff
for compression in [None, "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits", "jpeg"]:
    save(f"rgb_{compression}.tif", rgb, compression=compression)
for compression in [None, "group3", "group4", "tiff_ccitt", "tiff_lzw", "packbits"]:
    save(f"bits_{compression}.tif", gray.convert("1"), compression=compression)
save("gray.tif", gray)
save("gray_jpeg.tif", gray, compression="jpeg")
save("rgba.tif", rgba)
save("rgba_lzw.tif", rgba, compression="tiff_lzw")
save("gray_alpha.tif", rgba.convert("LA"))
save("palette.tif", colors)
save("palette_lzw.tif", colors, compression="tiff_lzw")
save("cmyk.tif", rgb.convert("CMYK"))
save("cmyk_lzw.tif", rgb.convert("CMYK"), compression="tiff_lzw")
save("ycbcr.tif", rgb.convert("YCbCr"), compression="jpeg")
save("pages.tif", rgb, save_all=True, append_images=[gray])
save("big.tif", rgb, big_tiff=True)
rgb.save("turned.tif", tiffinfo={274: 6})
known("turned.tif", "RGB", pixels)


# TIFF, by the specification
def tiff(name, chunks, bits, samples, photometric, order="<", tile=None, rows=HEIGHT, expected=None, **tags):
    """Writes a page without compression; `tags` are t338=[1] and so on, SHORTs."""
    chunks = chunks if isinstance(chunks, list) else [chunks]
    all = {256: (4, [WIDTH]), 257: (4, [HEIGHT]), 258: (3, [bits] * samples), 259: (3, [1])}
    all.update({262: (3, [photometric]), 277: (3, [samples])})
    all.update({int(tag[1:]): (3, values) for tag, values in tags.items()})
    if tile:
        all.update({322: (4, [tile]), 323: (4, [tile])})
    else:
        all[278] = (4, [rows])
    places, sizes = (324, 325) if tile else (273, 279)
    all[places] = (4, [0] * len(chunks))
    all[sizes] = (4, [len(chunk) for chunk in chunks])

    def packed(kind, values):
        return struct.pack(order + str(len(values)) + ("H" if kind == 3 else "I"), *values)

    after = 8 + 2 + 12 * len(all) + 4
    start = after + sum(len(packed(*all[tag])) for tag in all if len(packed(*all[tag])) > 4)
    all[places] = (4, [start + sum(all[sizes][1][:i]) for i in range(len(chunks))])
    entries, outside = b"", b""
    for tag in sorted(all):
        kind, values = all[tag]
        value = packed(kind, values)
        entries += struct.pack(order + "HHI", tag, kind, len(values))
        if len(value) > 4:
            entries += struct.pack(order + "I", after + len(outside))
            outside += value
        else:
            entries += value.ljust(4, b"\0")
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    page = struct.pack(order + "H", len(all)) + entries + bytes(4)
    open(name, "wb").write(head + page + outside + b"".join(chunks))
    if expected is None:
        read(name)
    elif expected != ():
        known(name, *expected)


def small(bits):
    """Packs the highest bits of the first channel."""
    values = np.unpackbits((first >> 8 - bits)[..., None], axis=-1)[..., 8 - bits:]
    return np.packbits(values.reshape(HEIGHT, -1), axis=1).tobytes()


def tiles(array, edge):
    for top in range(0, HEIGHT, edge):
        for left in range(0, WIDTH, edge):
            tile = np.zeros((edge, edge) + array.shape[2:], array.dtype)
            part = array[top:top + edge, left:left + edge]
            tile[:part.shape[0], :part.shape[1]] = part
            yield tile.tobytes()


deep = pixels.astype(np.uint16) * 257 - (x % 100)[..., None].astype(np.uint16)
deep_alpha = alpha.astype(np.uint16) * 257
high = (deep >> 8).astype(np.uint8)
for order, suffix in [("<", "le"), (">", "be")]:
    stored = deep.astype(order + "u2")
    tiff(f"rgb16_{suffix}.tif", stored.tobytes(), 16, 3, 2, order)
    tiff(f"gray16_{suffix}.tif", stored[..., 0].tobytes(), 16, 1, 1, order, expected=("L", high[..., 0]))
    tiff(f"rgb8_{suffix}.tif", pixels.tobytes(), 8, 3, 2, order)
    tiff(f"gray8_{suffix}.tif", first.tobytes(), 8, 1, 1, order)
inverted = ((65535 - deep[..., 0]) >> 8).astype(np.uint8)
tiff("white16.tif", deep[..., 0].tobytes(), 16, 1, 0, expected=("L", inverted))
tiff("white8.tif", first.tobytes(), 8, 1, 0)
tiff("planes.tif", [pixels[..., i].tobytes() for i in range(3)], 8, 3, 2, t284=[2])
tiff("black.tif", small(1), 1, 1, 1)
tiff("white.tif", small(1), 1, 1, 0)
tiff("gray2.tif", small(2), 2, 1, 1)
tiff("gray4.tif", small(4), 4, 1, 1)
tiff("white4.tif", small(4), 4, 1, 0)
random = np.random.default_rng(1)
palette = lambda colors: [int(value) for value in random.integers(0, 65536, 3 * colors)]
tiff("palette1.tif", small(1), 1, 1, 3, t320=palette(2))
tiff("palette4.tif", small(4), 4, 1, 3, t320=palette(16))
tiff("palette8.tif", first.tobytes(), 8, 1, 3, t320=palette(256))
four = np.dstack([pixels, alpha])
tiff("extra0.tif", four.tobytes(), 8, 4, 2, t338=[0])
tiff("extra2.tif", four.tobytes(), 8, 4, 2, t338=[2])
times = np.dstack([(pixels * (alpha[..., None] / 255)).astype(np.uint8), alpha])
tiff("extra1.tif", times.tobytes(), 8, 4, 2, t338=[1])
tiff("gray_extra2.tif", np.dstack([first, alpha]).tobytes(), 8, 2, 1, t338=[2])
tiff("rgba16.tif", np.dstack([deep, deep_alpha]).tobytes(), 16, 4, 2, t338=[2])
both = np.dstack([deep[..., 0], deep_alpha])
tiff("gray_alpha16.tif", both.tobytes(), 16, 2, 1, t338=[2], expected=("LA", high[..., 0], alpha))
tiff("cmyk8.tif", four.tobytes(), 8, 4, 5)
tiff("tiles.tif", list(tiles(pixels, 32)), 8, 3, 2, tile=32)
tiff("strips.tif", [pixels[i:i + 8].tobytes() for i in range(0, HEIGHT, 8)], 8, 3, 2, rows=8)
tiff("private.tif", pixels.tobytes(), 8, 3, 2, t33550=[1, 2], t65000=[1])

# Not decoded: named in refused.json with what the message says
refused = {}


def refuse(name, words, *args, **options):
    tiff(name, *args, expected=(), **options)
    refused[name] = words


refuse("float.tif", "floats", first.astype("<f4").tobytes(), 32, 1, 1, t339=[3])
refuse("signed8.tif", "signed integers", first.tobytes(), 8, 1, 1, t339=[2])
refuse("signed16.tif", "signed integers", deep[..., 0].tobytes(), 16, 1, 1, t339=[2])
refuse("complex.tif", "complex floats", first.astype("<c8").tobytes(), 64, 1, 1, t339=[6])
refuse("uint32.tif", "1 samples of 32 bits a pixel", first.astype("<u4").tobytes(), 32, 1, 1)
refuse("cmyk16.tif", "4 samples of 16 bits a pixel", np.dstack([deep, deep_alpha]).tobytes(), 16, 4, 5)
refuse("undeclared.tif", "4 samples a pixel, 0 of them declared as extra", four.tobytes(), 8, 4, 2)
refuse("bands.tif", "5 samples a pixel", np.dstack([four, alpha]).tobytes(), 8, 5, 2, t338=[0, 0])
refuse("lab.tif", "the photometric interpretation 8", pixels.tobytes(), 8, 3, 8)
refuse("lzma.tif", "the compression 34925", pixels.tobytes(), 8, 3, 2, t259=[34925])
refuse("odd.tif", "1 samples of 3 bits a pixel", first.tobytes(), 3, 1, 1)
refuse("mixed.tif", "samples of several sizes", pixels.tobytes(), 8, 3, 2, t258=[8, 8, 16])
json.dump({"read": index, "refused": refused}, open("index.json", "w"))
