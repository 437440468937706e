"""Writes test/golden/parquet by pyarrow (written with 25.0): make_golden.py DIRECTORY.

Each case is a file, or a directory of files, and expect.json with what pyarrow reads of it: per column its values as
JSON has them, where bytes are {"hex": …}, integers of 64 bits and what is no number of JSON are text.
"""
import base64
import datetime
import decimal
import json
import math
import os
import shutil
import struct
import sys
import uuid
import zlib

import pyarrow as pa
import pyarrow.parquet as pq

GOLDEN = sys.argv[1]


def png(shade, size=8):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes((shade + x * 3 + y) % 256 for x in range(size)) for y in range(size))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def plain(value, kind):
    """A value as expect.json has it, by its type in Arrow."""
    if value is None:
        return None
    if pa.types.is_dictionary(kind):
        return plain(value, kind.value_type)
    if pa.types.is_struct(kind):
        return {"struct": [[f.name, plain(v, f.type)] for f, v in zip(kind, value.values())]}
    if pa.types.is_map(kind):
        return [[plain(k, kind.key_type), plain(v, kind.item_type)] for k, v in value]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [plain(item, kind.value_type) for item in value]
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if pa.types.is_boolean(kind) or isinstance(value, str):
        return value
    if pa.types.is_floating(kind):
        if math.isnan(value):
            return {"float": "NaN"}
        if math.isinf(value):
            return {"float": "Infinity" if value > 0 else "-Infinity"}
        return {"float": value}
    if pa.types.is_integer(kind):
        return {"bigint": str(value)} if kind.bit_width == 64 else value
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        digits = {"ms": 3, "us": 6, "ns": 9}[kind.unit]
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond:06}000"[:digits] + ("Z" if kind.tz else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        digits = {"ms": 3, "us": 6, "ns": 9}[kind.unit]
        return value.strftime("%H:%M:%S.") + f"{value.microsecond:06}000"[:digits]
    raise TypeError(f"{value!r} of {kind}")


def expect(case, target, paths):
    tables = [pq.ParquetFile(path).read() for path in paths]
    columns = []
    for number, field in enumerate(tables[0].schema):
        values = [plain(v, field.type) for t in tables for v in t.column(number).to_pylist()]
        columns.append({"name": field.name, "values": values})
    rows = sum(t.num_rows for t in tables)
    with open(f"{GOLDEN}/{case}/expect.json", "w") as file:
        lines = ",\n".join(json.dumps(column, ensure_ascii=False) for column in columns)
        head = json.dumps({"target": target, "content": {"rows": rows}})
        file.write(f'{head[:-2]}, "columns": [\n{lines}\n]}}}}\n')


def case(name, table, file=None, **options):
    folder = f"{GOLDEN}/{name}"
    os.makedirs(folder)
    file = file or f"{name}.parquet"
    pq.write_table(table, f"{folder}/{file}", **options)
    expect(name, file, [f"{folder}/{file}"])


def typed(kind, values):
    return pa.array(values, kind)


def nested_table():
    pair = pa.struct([("a", pa.int32()), ("b", pa.string())])
    deep = pa.list_(pa.struct([("x", pa.list_(pa.int32())), ("y", pair)]))
    return pa.table({
        "list": typed(pa.list_(pa.int32()), [[1, 2, None], [], None, [3]]),
        "list_of_lists": typed(pa.list_(pa.list_(pa.string())), [[["a"], [], None], [], None, [["b", None]]]),
        "struct": typed(pair, [{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 2, "b": ""}]),
        "struct_of_struct": typed(pa.struct([("in", pair), ("n", pa.int64())]), [{"in": {"a": 1, "b": "q"}, "n": 5}, {"in": None, "n": None}, None, {"in": {"a": None, "b": "r"}, "n": 6}]),
        "map": typed(pa.map_(pa.string(), pa.int32()), [[("k", 1), ("", None)], [], None, [("k", 2), ("l", 3)]]),
        "map_of_ints": typed(pa.map_(pa.int32(), pa.list_(pa.string())), [[(7, ["x"]), (-1, None)], [], None, [(3, [])]]),
        "deep": typed(deep, [[{"x": [1, None], "y": {"a": 1, "b": "u"}}, None, {"x": None, "y": None}], [], None, [{"x": [], "y": {"a": None, "b": None}}]]),
        "bytes_in_list": typed(pa.list_(pa.binary()), [[b"\x01", None], [], None, [b""]]),
        "fixed_list": typed(pa.list_(pa.float32(), 2), [[1.0, 2.0], [3.0, None], [0.5, 0.25], [0.0, -1.0]]),
    })


def many_table(rows=300, start=0):
    return pa.table({
        "id": typed(pa.int64(), [start + i for i in range(rows)]),
        "word": typed(pa.string(), [None if i % 7 == 3 else f"word {(start + i) % 11} " * (i % 5) for i in range(rows)]),
        "data": typed(pa.binary(), [bytes([(start + i + k) % 256 for k in range(i % 40)]) for i in range(rows)]),
        "items": typed(pa.list_(pa.int32()), [None if i % 13 == 5 else list(range(i % 6)) for i in range(rows)]),
        "flag": typed(pa.bool_(), [None if i % 5 == 1 else i % 3 == 0 for i in range(rows)]),
        "score": typed(pa.float64(), [i / 8 for i in range(rows)]),
    })


def pictures_table(rows=12):
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pictures = [None if i == 5 else {"bytes": png(i * 9), "path": f"picture_{i}.png"} for i in range(rows)]
    return pa.table({
        "image": typed(image, pictures),
        "label": typed(pa.int64(), list(range(rows))),
        "caption": typed(pa.string(), [f"Picture {i}" for i in range(rows)]),
    })


shutil.rmtree(GOLDEN, ignore_errors=True)
os.makedirs(GOLDEN)

TYPES = {
    "bool": (pa.bool_(), [True, False, None, True]),
    "int8": (pa.int8(), [-128, 127, None, 0]),
    "int16": (pa.int16(), [-32768, 32767, None, 0]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1, None, 0]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1, None, 2**53 + 1]),
    "uint8": (pa.uint8(), [0, 255, None, 1]),
    "uint16": (pa.uint16(), [0, 65535, None, 1]),
    "uint32": (pa.uint32(), [0, 2**32 - 1, None, 1]),
    "uint64": (pa.uint64(), [0, 2**64 - 1, None, 2**53 + 1]),
    "float16": (pa.float16(), [1.5, -2.0, None, 6.103515625e-05]),
    "float": (pa.float32(), [1.5, float("inf"), None, -0.10000000149011612]),
    "double": (pa.float64(), [0.1, float("nan"), None, -1e300]),
    "decimal9": (pa.decimal128(9, 2), [decimal.Decimal(x) if x else None for x in ("1.20", "-0.05", None, "1234567.89")]),
    "decimal18": (pa.decimal128(18, 3), [decimal.Decimal(x) if x else None for x in ("1.200", "-99.999", None, "0.000")]),
    "decimal38": (pa.decimal128(38, 10), [decimal.Decimal(x) if x else None for x in ("1234567890123456789012345678.0123456789", "-1.0000000001", None, "0.0000000000")]),
    "decimal76": (pa.decimal256(76, 0), [decimal.Decimal(x) if x else None for x in ("9" * 76, "-" + "8" * 70, None, "0")]),
    "date": (pa.date32(), [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), None, datetime.date(1900, 12, 31)]),
    "time_ms": (pa.time32("ms"), [datetime.time(0), datetime.time(23, 59, 59, 999000), None, datetime.time(12)]),
    "time_us": (pa.time64("us"), [datetime.time(0), datetime.time(23, 59, 59, 999999), None, datetime.time(12)]),
    "time_ns": (pa.time64("ns"), [datetime.time(0), datetime.time(23, 59, 59, 999999), None, datetime.time(12)]),
    "timestamp_ms": (pa.timestamp("ms"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4000), None, datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)]),
    "timestamp_us": (pa.timestamp("us", "UTC"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime.datetime(1600, 1, 1)]),
    "timestamp_ns": (pa.timestamp("ns"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime.datetime(1969, 12, 31)]),
    "string": (pa.string(), ["", "häß ☃ 🦊", None, 'a\nb"c']),
    "large_string": (pa.large_string(), ["x", "", None, "y"]),
    "binary": (pa.binary(), [b"", b"\x00\xff", None, b"abc"]),
    "fixed": (pa.binary(3), [b"abc", b"\x00\x01\x02", None, b"xyz"]),
    "uuid": (pa.uuid(), [uuid.UUID(int=5), uuid.UUID("12345678-1234-5678-1234-567812345678"), None, uuid.UUID(int=0)]),
    "null": (pa.null(), [None] * 4),
}
table = pa.table({name: typed(kind, values) for name, (kind, values) in TYPES.items()})
table = table.append_column("dictionary", typed(pa.string(), ["a", "b", None, "a"]).dictionary_encode())
table = table.append_column(pa.field("required", pa.int32(), nullable=False), typed(pa.int32(), [1, 2, 3, 4]))
case("types", table)
case("types_v2", table, data_page_version="2.0", use_dictionary=False)
case("nested", nested_table())
case("nested_v2", nested_table(), data_page_version="2.0")
# Other types than of numbers and texts, in lists, lists of a size, and structures.
INNER = {
    name: TYPES[name]
    for name in ("bool", "int8", "uint8", "uint16", "float16", "decimal9", "decimal38", "date", "time_us", "timestamp_ms", "timestamp_us", "fixed")
}
inner = pa.struct([(name, kind) for name, (kind, _) in INNER.items()])
rows = [dict(zip(INNER, values)) for values in zip(*(values for _, values in INNER.values()))]
case("nested_types", pa.table({
    **{f"list_{name}": typed(pa.list_(kind), [values, [], None, values[:1]]) for name, (kind, values) in INNER.items()},
    **{f"two_{name}": typed(pa.list_(kind, 2), [values[:2], values[2:], values[:2], values[1:3]]) for name, (kind, values) in INNER.items() if name != "fixed"},
    "struct": typed(inner, [rows[0], rows[1], None, rows[3]]),
    "structs": typed(pa.list_(inner), [rows, [], None, [None]]),
}))
stamps = typed(pa.timestamp("ns"), [datetime.datetime(2001, 2, 3, 4, 5, 6, 7), None, datetime.datetime(1969, 7, 20)])
case("int96", pa.table({"when": stamps}), use_deprecated_int96_timestamps=True)

for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
    for version in ("1.0", "2.0"):
        case(
            f"{codec}_v{version[0]}",
            many_table(),
            compression=codec,
            data_page_version=version,
            row_group_size=130,
            data_page_size=400,
            write_batch_size=16,
            write_page_index=version == "2.0",
            write_page_checksum=True,
        )
case("indexed_v1", many_table(), row_group_size=170, data_page_size=300, write_batch_size=16, write_page_index=True)
case("plain_v1", many_table(), use_dictionary=False, compression="none", data_page_size=300, write_batch_size=16, write_page_index=True)
for name, encodings in {
    "delta": {"id": "DELTA_BINARY_PACKED", "word": "DELTA_BYTE_ARRAY", "data": "DELTA_LENGTH_BYTE_ARRAY", "flag": "RLE", "score": "BYTE_STREAM_SPLIT"},
}.items():
    case(name, many_table().drop_columns(["items"]), use_dictionary=False, column_encoding=encodings, data_page_size=400, write_batch_size=16)

case("pictures", pictures_table(), row_group_size=5, write_page_index=True)
bare = pa.table({
    "jpg": typed(pa.binary(), [b"\xff\xd8\xff\xe0" + bytes([i]) for i in range(3)]),
    "data": typed(pa.binary(), [None, b"fLaC" + bytes(4), b"none"]),
    "json": typed(pa.string(), ["{}", "[1]", None]),
})
case("sniffed", bare)
names = ["a/b", "..", ".", "", "a.b", "ü ☃", "100%", "x.txt", "x", "__proto__", "n" * 300]
case("odd_names", pa.table([typed(pa.string(), [f"of {i}", None]) for i in range(len(names))], names=names))
twice = pa.table([typed(pa.int32(), [1, 2]), typed(pa.int32(), [3, 4])], names=["a", "a"])
case("duplicates", twice)
inside = pa.struct([("a.b", pa.int32()), ("__proto__", pa.string()), ("1", pa.int32()), ("0", pa.int32())])
case("nested_names", pa.table({"s": typed(inside, [{"a.b": 1, "__proto__": "p", "1": 2, "0": 3}, None])}))
mark = "\ufeff"
marked = pa.struct([(f"{mark}k", pa.int64()), ("k", pa.int64())])
case("byte_order_marks", pa.table({
    f"{mark}id": typed(pa.int64(), [1, 3]),
    "id": typed(pa.int64(), [2, 4]),
    "struct": typed(marked, [{f"{mark}k": 1, "k": 2}, None]),
    "text": typed(pa.string(), [f"{mark}a", mark]),
    "dictionary": typed(pa.string(), [f"{mark}b", f"{mark}b"]).dictionary_encode(),
    "list": typed(pa.list_(pa.string()), [[f"{mark}c", "c"], [f"{mark}{mark}"]]),
    "map": typed(pa.map_(pa.string(), pa.string()), [[(f"{mark}k", f"{mark}v"), ("k", "v")], []]),
    "json": pa.array([f"{mark}[2]", None], pa.json_()),
}))
case("json_null", pa.table({"meta": pa.array(['{"a": 1}', None, "null"], pa.json_())}))
# Rows that are longer than a page: pages without values stand before them.
long_rows = pa.table({"x": typed(pa.list_(pa.string()), [["a", None, "b"], [], None, ["c"]] * 3)})
case("empty_pages", long_rows, data_page_size=1, write_batch_size=1, write_page_index=True)
case("no_rows", many_table().slice(0, 0))
case("no_columns", pa.table({}))

folder = f"{GOLDEN}/shards"
os.makedirs(f"{folder}/data")
files = [f"{folder}/data/train-{i:05}-of-00003.parquet" for i in range(3)]
for i, path in enumerate(files):
    pq.write_table(many_table(20 + i, 100 * i), path)
expect("shards", "data", files)

# What is refused: files that are encrypted, as a whole or in a column.
import pyarrow.parquet.encryption as pe  # noqa: E402


class Keys(pe.KmsClient):
    """Wraps keys by nothing but base64: of files that nobody has to keep secret."""

    def wrap_key(self, key, _master):
        return base64.b64encode(key)

    def unwrap_key(self, wrapped, _master):
        return base64.b64decode(wrapped)


REFUSED = f"{GOLDEN}_refused"
shutil.rmtree(REFUSED, ignore_errors=True)
os.makedirs(REFUSED)
factory = pe.CryptoFactory(lambda _config: Keys())
for name, plaintext in (("encrypted", False), ("encrypted_column", True)):
    config = pe.EncryptionConfiguration("footer", column_keys={"key": ["b"]}, plaintext_footer=plaintext)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
    secret = pa.table({"a": [1, 2], "b": ["x", "y"]})
    with pq.ParquetWriter(f"{REFUSED}/{name}.parquet", secret.schema, encryption_properties=properties) as writer:
        writer.write_table(secret)
