"""Writes test/golden/arrow by pyarrow (written with 25.0): make_golden.py DIRECTORY.

Each case is a file, or a directory of files, and expect.json with what pyarrow reads of it, as the cases of Parquet
have it. What is refused goes to DIRECTORY_refused. The case datasets_saved is made by make_saved.py.
"""
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
import pyarrow.feather as feather
import pyarrow.ipc as ipc

GOLDEN = sys.argv[1]


def png(shade, size=8):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes((shade + x * 3 + y) % 256 for x in range(size)) for y in range(size))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def is_list(kind):
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def fraction(value, unit):
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[unit]
    return f".{value.microsecond:06}000"[: digits + 1] if digits else ""


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
    if is_list(kind):
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
        return value.strftime("%Y-%m-%dT%H:%M:%S") + fraction(value, kind.unit) + ("Z" if kind.tz else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S") + fraction(value, kind.unit)
    if isinstance(value, datetime.timedelta):
        digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit]
        micros = round(value / datetime.timedelta(microseconds=1))
        return f"PT{decimal.Decimal(micros).scaleb(-6):.{digits}f}S"
    raise TypeError(f"{value!r} of {kind}")


def read(path):
    with open(path, "rb") as file:
        is_file = file.read(6) == b"ARROW1"
    with pa.OSFile(path) as source:
        return (ipc.open_file(source) if is_file else ipc.open_stream(source)).read_all()


def expect(case, target, paths):
    tables = [read(path) for path in paths]
    columns = []
    for number, field in enumerate(tables[0].schema):
        values = [plain(v, field.type) for t in tables for v in t.column(number).to_pylist()]
        columns.append({"name": field.name, "values": values})
    rows = sum(t.num_rows for t in tables)
    with open(f"{GOLDEN}/{case}/expect.json", "w") as file:
        lines = ",\n".join(json.dumps(column, ensure_ascii=False) for column in columns)
        head = json.dumps({"target": target, "content": {"rows": rows}})
        file.write(f'{head[:-2]}, "columns": [\n{lines}\n]}}}}\n')


def write(path, batches, schema, form="file", **options):
    new = ipc.new_file if form == "file" else ipc.new_stream
    with new(path, schema, options=ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write(batch)


def case(name, table, rows=None, file=None, form="file", **options):
    folder = f"{GOLDEN}/{name}"
    os.makedirs(folder)
    file = file or f"{name}.{'arrow' if form == 'file' else 'arrows'}"
    batches = table if isinstance(table, list) else table.to_batches(max_chunksize=rows)
    write(f"{folder}/{file}", batches, batches[0].schema if isinstance(table, list) else table.schema, form, **options)
    expect(name, file, [f"{folder}/{file}"])


def typed(kind, values):
    return pa.array(values, kind)


def nested_table():
    pair = pa.struct([("a", pa.int32()), ("b", pa.string())])
    deep = pa.list_(pa.struct([("x", pa.list_(pa.int32())), ("y", pair)]))
    return pa.table({
        "list": typed(pa.list_(pa.int32()), [[1, 2, None], [], None, [3]]),
        "large_list": typed(pa.large_list(pa.string()), [["x", None], [], None, ["yz"]]),
        "list_of_lists": typed(pa.list_(pa.list_(pa.string())), [[["a"], [], None], [], None, [["b", None]]]),
        "struct": typed(pair, [{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 2, "b": ""}]),
        "struct_of_struct": typed(pa.struct([("in", pair), ("n", pa.int64())]), [{"in": {"a": 1, "b": "q"}, "n": 5}, {"in": None, "n": None}, None, {"in": {"a": None, "b": "r"}, "n": 6}]),
        "map": typed(pa.map_(pa.string(), pa.int32()), [[("k", 1), ("", None)], [], None, [("k", 2), ("l", 3)]]),
        "map_of_ints": typed(pa.map_(pa.int32(), pa.list_(pa.string())), [[(7, ["x"]), (-1, None)], [], None, [(3, [])]]),
        "deep": typed(deep, [[{"x": [1, None], "y": {"a": 1, "b": "u"}}, None, {"x": None, "y": None}], [], None, [{"x": [], "y": {"a": None, "b": None}}]]),
        "bytes_in_list": typed(pa.list_(pa.binary()), [[b"\x01", None], [], None, [b""]]),
        "fixed_list": typed(pa.list_(pa.float32(), 2), [[1.0, 2.0], [3.0, None], [0.5, 0.25], [0.0, -1.0]]),
        "nullable_fixed_list": typed(pa.list_(pa.int16(), 3), [[1, 2, 3], None, [4, None, 6], [7, 8, 9]]),
        "empty_struct": typed(pa.struct([]), [{}, None, {}, {}]),
        "nulls_in_list": typed(pa.list_(pa.null()), [[None, None], [], None, [None]]),
        "views_in_list": typed(pa.list_(pa.string_view()), [["a text that does not lie in its view", "short"], [None], None, []]),
    })


def many_table(rows=300, start=0):
    return pa.table({
        "id": typed(pa.int64(), [start + i for i in range(rows)]),
        "word": typed(pa.string(), [None if i % 7 == 3 else f"word {(start + i) % 11} " * (i % 5) for i in range(rows)]),
        "data": typed(pa.binary(), [bytes([(start + i + k) % 256 for k in range(i % 40)]) for i in range(rows)]),
        "items": typed(pa.list_(pa.int32()), [None if i % 13 == 5 else list(range(i % 6)) for i in range(rows)]),
        "flag": typed(pa.bool_(), [None if i % 5 == 1 else i % 3 == 0 for i in range(rows)]),
        "score": typed(pa.float64(), [i / 8 for i in range(rows)]),
        "sparse": typed(pa.int32(), [i if i % 97 == 50 else None for i in range(rows)]),
        "tag": typed(pa.string(), [None if i % 9 == 2 else f"tag {i % 4}" for i in range(rows)]).dictionary_encode(),
    })


def pictures_table(rows=12):
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pictures = [None if i == 5 else {"bytes": png(i * 9), "path": f"picture_{i}.png"} for i in range(rows)]
    return pa.table({
        "image": typed(image, pictures),
        "label": typed(pa.int64(), list(range(rows))),
        "caption": typed(pa.string(), [f"Picture {i}" for i in range(rows)]),
    })


for folder in (GOLDEN, f"{GOLDEN}_refused"):
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            if name != "datasets_saved":
                shutil.rmtree(f"{folder}/{name}") if os.path.isdir(f"{folder}/{name}") else os.remove(f"{folder}/{name}")
    os.makedirs(folder, exist_ok=True)

DAY = datetime.timedelta(days=1)
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
    "decimal9": (pa.decimal32(9, 2), [decimal.Decimal(x) if x else None for x in ("1.20", "-0.05", None, "1234567.89")]),
    "decimal18": (pa.decimal64(18, 3), [decimal.Decimal(x) if x else None for x in ("1.200", "-99.999", None, "0.000")]),
    "decimal38": (pa.decimal128(38, 10), [decimal.Decimal(x) if x else None for x in ("1234567890123456789012345678.0123456789", "-1.0000000001", None, "0.0000000000")]),
    "decimal76": (pa.decimal256(76, 0), [decimal.Decimal(x) if x else None for x in ("9" * 76, "-" + "8" * 70, None, "0")]),
    "date": (pa.date32(), [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), None, datetime.date(1900, 12, 31)]),
    "date64": (pa.date64(), [datetime.date(1970, 1, 1), datetime.date(2024, 2, 29), None, datetime.date(1900, 12, 31)]),
    "time_s": (pa.time32("s"), [datetime.time(0), datetime.time(23, 59, 59), None, datetime.time(12)]),
    "time_ms": (pa.time32("ms"), [datetime.time(0), datetime.time(23, 59, 59, 999000), None, datetime.time(12)]),
    "time_us": (pa.time64("us"), [datetime.time(0), datetime.time(23, 59, 59, 999999), None, datetime.time(12)]),
    "time_ns": (pa.time64("ns"), [datetime.time(0), datetime.time(23, 59, 59, 999999), None, datetime.time(12)]),
    "timestamp_s": (pa.timestamp("s"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3), None, datetime.datetime(1969, 12, 31, 23, 59, 59)]),
    "timestamp_ms": (pa.timestamp("ms"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4000), None, datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)]),
    "timestamp_us": (pa.timestamp("us", "UTC"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime.datetime(1600, 1, 1)]),
    "timestamp_ns": (pa.timestamp("ns"), [datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 1, 2, 3, 4), None, datetime.datetime(1969, 12, 31)]),
    "duration_s": (pa.duration("s"), [DAY, -DAY, None, DAY * 0]),
    "duration_ms": (pa.duration("ms"), [datetime.timedelta(milliseconds=1), -datetime.timedelta(milliseconds=1500), None, DAY * 0]),
    "duration_us": (pa.duration("us"), [datetime.timedelta(microseconds=-1), 100000 * DAY, None, DAY * 0]),
    "duration_ns": (pa.duration("ns"), [datetime.timedelta(microseconds=1), -DAY, None, DAY * 0]),
    "string": (pa.string(), ["", "häß ☃ 🦊", None, 'a\nb"c']),
    "large_string": (pa.large_string(), ["x", "", None, "y"]),
    "string_view": (pa.string_view(), ["of twelve ch", "of more than twelve characters ☃", None, ""]),
    "binary": (pa.binary(), [b"", b"\x00\xff", None, b"abc"]),
    "large_binary": (pa.large_binary(), [b"", b"\x00\xff", None, b"abc"]),
    "binary_view": (pa.binary_view(), [b"", bytes(range(40)), None, b"abc"]),
    "fixed": (pa.binary(3), [b"abc", b"\x00\x01\x02", None, b"xyz"]),
    "uuid": (pa.uuid(), [uuid.UUID(int=5), uuid.UUID("12345678-1234-5678-1234-567812345678"), None, uuid.UUID(int=0)]),
    "json": (pa.json_(), ['{"a": 1}', "[2]", None, "null"]),
    "null": (pa.null(), [None] * 4),
}
table = pa.table({name: typed(kind, values) for name, (kind, values) in TYPES.items()})
table = table.append_column("dictionary", typed(pa.string(), ["a", "b", None, "a"]).dictionary_encode())
table = table.append_column("dictionary8", typed(pa.int64(), [7, 8, None, 7]).dictionary_encode().cast(pa.dictionary(pa.uint8(), pa.int64())))
table = table.append_column(pa.field("required", pa.int32(), nullable=False), typed(pa.int32(), [1, 2, 3, 4]))
case("types", table)
case("types_stream", table, form="stream")
case("types_zstd", table, form="stream", compression="zstd")
case("types_lz4", table, compression="lz4")
case("types_old", table.drop_columns(["string_view", "binary_view"]), form="stream", metadata_version=ipc.MetadataVersion.V4, use_legacy_format=True)
case("nested", nested_table())
case("nested_stream", nested_table(), rows=3, form="stream")
case("nested_lz4", nested_table(), compression="lz4")
INNER = {
    name: TYPES[name]
    for name in ("bool", "int8", "uint8", "uint16", "float16", "decimal9", "decimal38", "date", "time_us", "timestamp_ms", "timestamp_us", "duration_ms", "fixed")
}
inner = pa.struct([(name, kind) for name, (kind, _) in INNER.items()])
rows = [dict(zip(INNER, values)) for values in zip(*(values for _, values in INNER.values()))]
case("nested_types", pa.table({
    **{f"list_{name}": typed(pa.list_(kind), [values, [], None, values[:1]]) for name, (kind, values) in INNER.items()},
    **{f"two_{name}": typed(pa.list_(kind, 2), [values[:2], values[2:], values[:2], values[1:3]]) for name, (kind, values) in INNER.items() if name != "fixed"},
    "struct": typed(inner, [rows[0], rows[1], None, rows[3]]),
    "structs": typed(pa.list_(inner), [rows, [], None, [None]]),
}))
for codec in (None, "zstd", "lz4"):
    case(f"many_{codec or 'none'}", many_table(), rows=130, unify_dictionaries=True, compression=codec)
    case(f"many_{codec or 'none'}_stream", many_table(), rows=70, form="stream", compression=codec)
# Blocks of LZ4 that refer to those before them, and content that does not become smaller.
long = pa.table({
    "text": typed(pa.string(), [f"{i % 7} of the same words, again and again, " * 9 for i in range(900)]),
    "noise": typed(pa.binary(16), [zlib.crc32(bytes([i % 256, i // 256])).to_bytes(4, "big") * 4 for i in range(900)]),
})
folder = f"{GOLDEN}/long_lz4"
os.makedirs(folder)
feather.write_feather(long, f"{folder}/long.feather", compression="lz4")
expect("long_lz4", "long.feather", [f"{folder}/long.feather"])

# Slices, whose bitmaps and offsets do not begin at 0.
sliced = many_table()
case("sliced", [sliced.slice(at, 37).combine_chunks().to_batches()[0] for at in (3, 50, 111)], unify_dictionaries=True)

# Dictionaries that grow, and that are replaced.
def encoded(indices, values, index=pa.int32()):
    return pa.record_batch({"d": pa.DictionaryArray.from_arrays(typed(index, indices), typed(pa.string(), values))})


growing = [encoded([0, 1, None], ["a", "b"]), encoded([2, 0], ["a", "b", "c"]), encoded([3, 1, 2], ["a", "b", "c", "d"])]
case("deltas", growing, form="stream", emit_dictionary_deltas=True)
case("deltas_file", growing, emit_dictionary_deltas=True)
case("deltas_zstd", growing, form="stream", emit_dictionary_deltas=True, compression="zstd")
case("replaced", [encoded([0, 1], ["a", "b"]), encoded([1, 0], ["x", "y"]), encoded([], []), encoded([0, None], ["z"])], form="stream")
tags = pa.DictionaryArray.from_arrays(typed(pa.int16(), [0, 1, 2, 1, None, 0]), typed(pa.string(), ["p", "q", None]))
inner_list = pa.ListArray.from_arrays(typed(pa.int32(), [0, 2, 2, 6]), tags)
lists = pa.DictionaryArray.from_arrays(typed(pa.int8(), [1, 0, None]), typed(pa.list_(pa.int32()), [[1], [2, None]]))
structs = pa.StructArray.from_arrays([pa.DictionaryArray.from_arrays(typed(pa.int32(), [1, None, 0]), typed(pa.int64(), [5, 6]))], names=["n"])
case("nested_dictionaries", pa.table({"tags": inner_list, "lists": lists, "structs": structs}))
case("nested_dictionaries_stream", pa.table({"tags": inner_list, "lists": lists, "structs": structs}), rows=2, form="stream")

case("pictures", pictures_table(), rows=5)
names = ["a/b", "..", ".", "", "a.b", "ü ☃", "100%", "x.txt", "x", "__proto__", "n" * 300]
case("odd_names", pa.table([typed(pa.string(), [f"of {i}", None]) for i in range(len(names))], names=names))
case("duplicates", pa.table([typed(pa.int32(), [1, 2]), typed(pa.int32(), [3, 4])], names=["a", "a"]))
inside = pa.struct([("a.b", pa.int32()), ("__proto__", pa.string()), ("1", pa.int32()), ("0", pa.int32())])
case("nested_names", pa.table({"s": typed(inside, [{"a.b": 1, "__proto__": "p", "1": 2, "0": 3}, None])}))
empty = many_table().slice(0, 0).to_batches() or [pa.RecordBatch.from_pylist([], schema=many_table().schema)]
some = many_table(5).combine_chunks().to_batches()
case("empty_batches", [*empty, *some, *empty, *some, *empty], form="stream")
case("no_rows", many_table().slice(0, 0))
case("no_rows_stream", many_table().slice(0, 0), form="stream")
case("no_columns", pa.table({}))

folder = f"{GOLDEN}/shards"
os.makedirs(f"{folder}/data")
files = [f"{folder}/data/train-{i:05}-of-00003.arrow" for i in range(3)]
for i, path in enumerate(files):
    part = many_table(20 + i, 100 * i)
    write(path, part.to_batches(max_chunksize=9), part.schema, "stream")
expect("shards", "data", files)

# What is refused.
REFUSED = f"{GOLDEN}_refused"
feather.write_feather(pa.table({"a": [1, 2]}), f"{REFUSED}/version_1.feather", version=1)
union = pa.UnionArray.from_sparse(typed(pa.int8(), [0, 1]), [typed(pa.int32(), [1, 2]), typed(pa.string(), ["x", "y"])])
# Few bytes that would become very many.
BIG = 1 << 20
text = pa.array(["a" * BIG])


def zeros(count, kind=pa.int8()):
    return pa.nulls(count, kind).fill_null(0)


tags = pa.DictionaryArray.from_arrays(zeros(BIG), text)
large = {
    "nulls": pa.FixedSizeListArray.from_arrays(pa.nulls(1 << 30), 1 << 30),
    "structs": pa.FixedSizeListArray.from_arrays(pa.array([{}], pa.struct([])).take(zeros(2 * BIG, pa.int32())), 2 * BIG),
    "dictionary": pa.ListArray.from_arrays(pa.array([0, BIG], pa.int32()), tags),
    "zeros": pa.ListArray.from_arrays(pa.array([0, 600 * BIG], pa.int32()), zeros(600 * BIG)),
}
for name, array in large.items():
    table = pa.table({"a": array})
    write(f"{REFUSED}/large_{name}.arrow", table.to_batches(), table.schema, compression="zstd")
kinds = {
    "union": union,
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays(typed(pa.int32(), [2]), typed(pa.string(), ["x"])),
    "list_view": typed(pa.list_view(pa.int32()), [[1], [2, 3]]),
    "interval": typed(pa.month_day_nano_interval(), [(1, 2, 3), None]),
}
for name, array in kinds.items():
    refused = pa.table({"a": [1, 2], "b": array})
    write(f"{REFUSED}/{name}.arrow", refused.to_batches(), refused.schema)
