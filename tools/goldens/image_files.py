#!/usr/bin/env python3
"""Writes tests/fixtures/images/*.png and tests/fixtures/broken/{amat,cifar,idx,image}/.

`python tools/goldens/image_files.py` needs nothing but Python. The PNGs are one picture of 5 rows and 7 columns in
every kind of PNG, encoded here independently of the library: tests/data/images/image_file_test.cpp says what its pixels are.
The .jpg files beside them are stb_image_write's, quality 95 (24 x 16: red 10 column, green 15 row, blue 128; 8 x 8:
grey 30 row). tests/data/broken_files_test.cpp says what each message about a broken file must name.
"""
import gzip
import shutil
import struct
import zlib
from pathlib import Path

fixtures = Path(__file__).resolve().parents[2] / "tests" / "fixtures"
height, width = 5, 7


def value(i, j, channel, depth):
    """The sample at a row, a column and a channel: any number of `depth` bits."""
    return (29 * i + 53 * j + 97 * channel + i * j) * 257 % (1 << depth)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def rows(columns, lines, channels, depth):
    """Filtered rows of the pixels at these columns and lines; every filter is used once."""
    result, last = b"", None
    size = max(1, channels * depth // 8)
    for n, i in enumerate(lines):
        bits = "".join(format(value(i, j, c, depth), f"0{depth}b") for j in columns for c in range(channels))
        bits += "0" * (-len(bits) % 8)
        line = bytes(int(bits[k:k + 8], 2) for k in range(0, len(bits), 8))
        last = last or bytes(len(line))
        kind = n % 5
        left, corner = bytes(size) + line, bytes(size) + last

        def paeth(a, b, c):
            p = a + b - c
            return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]

        filtered = bytes((x - [0, left[k], last[k], (left[k] + last[k]) // 2, paeth(left[k], last[k], corner[k])][kind])
                         % 256 for k, x in enumerate(line))
        result += bytes([kind]) + filtered
        last = line
    return result


def png(colour, depth, interlaced=False, size=(width, height)):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    data = b""
    for x, y, dx, dy in passes:
        columns, lines = range(x, width, dx), range(y, height, dy)
        if len(columns) and len(lines):
            data += rows(columns, lines, channels, depth)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, int(interlaced)))
    palette = b"".join(bytes([k % 256, 255 - k % 256, 3 * k % 256]) for k in range(1 << depth)) if colour == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + head + (chunk(b"PLTE", palette) if palette else b"") +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


for name, arguments in {"grey_1": (0, 1), "grey_4": (0, 4), "grey_8": (0, 8), "grey_16": (0, 16), "rgb_8": (2, 8),
                        "rgb_16": (2, 16), "palette_4": (3, 4), "grey_alpha_8": (4, 8), "rgba_8": (6, 8),
                        "interlaced_8": (2, 8, True), "interlaced_1": (0, 1, True)}.items():
    (fixtures / "images" / f"{name}.png").write_bytes(png(*arguments))

root = fixtures / "broken"
for kind in ("amat", "cifar", "idx", "image"):
    shutil.rmtree(root / kind, ignore_errors=True)


def write(name, data):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# --- amat ------------------------------------------------------------------------------------
line = b"0 " * 784 + b"3\n"
write("amat/empty.amat", b"")
write("amat/cut.amat", line + line[:700])
write("amat/wide.amat", b"0 " + line)
write("amat/pixel_of_bytes.amat", b"255" + line[1:])
write("amat/negative.amat", b"-0.5" + line[1:])
write("amat/not_a_number.amat", b"nan" + line[1:])
write("amat/words.amat", b"label pixels\n" + line)
write("amat/label_ten.amat", line + line[:-2] + b"10\n")
write("amat/binary.amat", b"\x00\x01\x1b[31m" + line)
# --- cifar -----------------------------------------------------------------------------------
record = bytes(3073)
write("cifar/empty.bin", b"")
write("cifar/cut.bin", record + record[:-1])
write("cifar/label_ten.bin", record + b"\x0a" + record[1:])
write("cifar/of_100_classes.bin", b"\0" + record)
# --- idx -------------------------------------------------------------------------------------
good = b"\0\0\x08\x03" + struct.pack(">III", 2, 3, 3) + bytes(18)
write("idx/empty.idx", b"")
write("idx/magic.idx", b"\x01" + good[1:])
write("idx/type.idx", b"\0\0\x0a" + good[3:])
write("idx/no_dimensions.idx", b"\0\0\x08\0" + good[4:])
write("idx/cut_header.idx", good[:9])
write("idx/cut.idx", good[:-1])
write("idx/trailing.idx", good + b"\0")
write("idx/huge.idx", b"\0\0\x0e\x03" + b"\xff" * 12)
write("idx/overflow.idx", b"\0\0\x0e\x04" + b"\xff" * 16)
write("idx/cut_gzip.idx", gzip.compress(good, mtime=0)[:-5])
write("idx/damaged_gzip.idx", gzip.compress(good, mtime=0)[:-8] + b"\1\2\3\4" + struct.pack("<I", len(good)))
# --- image -----------------------------------------------------------------------------------
def with_header(fields, colour=0, depth=8):
    whole = png(colour, depth)
    return whole[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", *fields)) + whole[33:]


whole = png(2, 8)
write("image/empty.png", b"")
write("image/text.png", b"GIF89a, not one of ours")
write("image/cut_png.png", whole[:-20])
write("image/cut_end.png", whole[:-12])
write("image/damaged.png", whole[:50] + b"\xff" + whole[51:])
write("image/zero_width.png", with_header((0, 5, 8, 0, 0, 0, 0)))
write("image/huge_png.png", with_header((1 << 30, 1 << 30, 8, 0, 0, 0, 0)))
write("image/many_pixels.png", with_header((32768, 32768, 8, 0, 0, 0, 0)))
write("image/too_tall.png", with_header((7, 6, 8, 0, 0, 0, 0)))
write("image/bomb.png", whole[:33] + chunk(b"IDAT", zlib.compress(bytes(1 << 20))) + chunk(b"IEND", b""))
write("image/colour_type.png", with_header((7, 5, 8, 5, 0, 0, 0)))
write("image/no_header.png", whole[:8] + whole[33:])
write("image/no_palette.png", with_header((7, 5, 8, 3, 0, 0, 0)))
jpeg = (fixtures / "images" / "colours.jpg").read_bytes()
write("image/cut_jpg.jpg", jpeg[:-30])
write("image/cut_header_jpg.jpg", jpeg[:100])
write("image/zero_height.jpg", jpeg.replace(struct.pack(">HH", 16, 24), struct.pack(">HH", 0, 24), 1))
write("image/no_scan.jpg", jpeg[:2] + jpeg[-2:])
write("image/many_codes.jpg", jpeg[:2] + b"\xff\xc4" + struct.pack(">H", 319) + b"\0" + b"\xff\x2d" + bytes(14) + bytes(300) +
      jpeg[2:])
head = b"BM" + struct.pack("<IHHI", 54 + 60, 0, 0, 54)


def bmp(width=3, height=5, depth=24, size=40, pixels=bytes(60), compression=0):
    return head + struct.pack("<IiiHHIIiiII", size, width, height, 1, depth, compression, 0, 0, 0, 0, 0) + pixels


write("image/cut_bmp.bmp", bmp(pixels=bytes(50)))
write("image/cut_header_bmp.bmp", bmp()[:30])
write("image/zero.bmp", bmp(width=0))
write("image/negative.bmp", bmp(width=-3))
write("image/huge_bmp.bmp", bmp(width=1 << 30, height=1 << 30))
write("image/depth.bmp", bmp(depth=13))
write("image/packed.bmp", bmp(depth=8, compression=1))
