"""Writes test/golden/jsonl, csv and tsv by Python's json and csv modules: make_golden.py DIRECTORY.

Expected values are what these modules read of the files again. A column of CSV is one of numbers if each of its cells
is a number of JSON by json.loads.
"""
import csv
import json
import os
import shutil
import sys

GOLDEN = sys.argv[1]
BOM = b"\xef\xbb\xbf"


def write(format, name, title, files, rows, target=None, valid=True):
    directory = f"{GOLDEN}/{format}/{name}"
    shutil.rmtree(directory, ignore_errors=True)
    for path, data in files.items():
        os.makedirs(os.path.dirname(f"{directory}/{path}"), exist_ok=True)
        with open(f"{directory}/{path}", "wb") as file:
            file.write(data)
    expect = {
        "schema": "golden-expect/1",
        "case": f"{format}/{name}",
        "format": format,
        "kind": "lines",
        "target": target or next(iter(files)),
        "title": title,
        "valid": valid,
        "content": {"rows": rows},
    }
    with open(f"{directory}/expect.json", "w", encoding="utf-8") as file:
        json.dump(expect, file, indent=1, ensure_ascii=False)
        file.write("\n")


def read_lines(data):
    """What json.loads gives of each line that is not blank; null stands for a line that is not JSON."""
    rows = []
    for line in data.removeprefix(BOM).split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            rows.append(None)
            continue
        rows.append(value if isinstance(value, dict) else {"content": value})
    return rows


def is_number(cell):
    try:
        value = json.loads(cell)
    except ValueError:
        return False
    return isinstance(value, (int, float)) and not isinstance(value, bool) and cell == cell.strip() and value == value


def read_cells(files, delimiter):
    """What csv.reader gives of each row, with columns of numbers by all their cells."""
    rows = []
    for data in files:
        text = data.removeprefix(BOM).decode("utf-8").replace("\r\n", "\n")
        reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=False)
        header, *cells = [row for row in reader if row]
        rows += [(header, row) for row in cells]
    numbers = set()
    for name in {name for header, _ in rows for name in header}:
        cells = [row[header.index(name)] for header, row in rows if name in header and len(row) == len(header)]
        if all(map(is_number, cells)):
            numbers.add(name)
    return [
        None
        if len(row) != len(header)
        else {name: json.loads(cell) if name in numbers else cell for name, cell in zip(header, row)}
        for header, row in rows
    ]


def write_lines(name, title, data, valid=True):
    write("jsonl", name, title, {f"{name}.jsonl": data}, read_lines(data), valid=valid)


def write_cells(format, name, title, data, valid=True):
    delimiter = "," if format == "csv" else "\t"
    write(format, name, title, {f"{name}.{format}": data}, read_cells([data], delimiter), valid=valid)


class Bytes:
    """Collects what csv.writer writes."""

    def __init__(self):
        self.data = b""

    def write(self, text):
        self.data += text.encode("utf-8")


def table(rows, **options):
    out = Bytes()
    csv.writer(out, **options).writerows(rows)
    return out.data


def lines(values, end="\n", **options):
    return b"".join((json.dumps(value, **options) + end).encode("utf-8") for value in values)


SAMPLES = [
    {"id": i, "text": text, "score": score, "ok": i % 2 == 0, "tags": tags, "more": {"a": [i, None], "b": text}}
    for i, (text, score, tags) in enumerate([
        ("a plain text", 0.5, ["x"]),
        ("żółć, 日本語, 😀", 1.0, []),
        ('quotes " and \\ and \t', -2.25, ["y", "z"]),
        ("two\nlines", 1e300, ["x"] * 3),
        ("", 0.0, [""]),
    ])
]

write_lines("objects", "objects of the same keys", lines(SAMPLES, ensure_ascii=False))
write_lines("ascii", "escaped texts, CRLF and a byte order mark", BOM + lines(SAMPLES, end="\r\n"))
write_lines(
    "kinds",
    "other keys in each line, nulls, large integers, and values that are no objects",
    lines([
        {"a": 1, "b": None},
        {"a": 2**53 + 1, "b": "x", "c": [1, 2.5]},
        {},
        {"10": 1, "2": 2, "__proto__": {"x": 1}},
        [1, 2, 3],
        "text",
        -7,
        None,
        {"b": 2**64, "a": -0.0},
    ]),
)
write_lines(
    "blank",
    "blank lines, and a last line without a newline",
    b"\n  \n" + lines(SAMPLES[:2]) + b"\r\n\t\n" + lines(SAMPLES[2:]).rstrip(b"\n"),
)
write_lines(
    "damaged",
    "lines that are not JSON, or not UTF-8",
    lines(SAMPLES[:1]) + b'{"id": 1,\n' + b'{"id": "\xff"}\n' + lines(SAMPLES[3:4]),
    valid=False,
)
shards = [lines(SAMPLES[:2]), lines(SAMPLES[2:3]), lines(SAMPLES[3:])]
write(
    "jsonl",
    "shards",
    "shards in a directory",
    {f"data/train-{i:05}-of-00003.jsonl": data for i, data in enumerate(shards)},
    [row for data in shards for row in read_lines(data)],
    target="data",
)
write_lines("none", "no lines", b"")

TABLE = [
    ["id", "text", "score", "zip", "wide", "empty"],
    [1, "plain", 0.5, "01234", 2**53 + 1, ""],
    [2, "żółć, 日本語, 😀", -3, "99999", 1, ""],
    [3, 'a "quoted" word', 1e300, "00001", -5, "x"],
    [4, "two\nlines", 2.0, "10000", 2**64, ""],
]

for format, delimiter in ("csv", ","), ("tsv", "\t"):
    plain = table(TABLE, delimiter=delimiter, lineterminator="\n")
    write_cells(format, "table", "texts and numbers", plain)
    crlf = table(TABLE[:4], delimiter=delimiter, quoting=csv.QUOTE_ALL)
    write_cells(format, "quoted", "all cells in quotes, CRLF and a byte order mark", BOM + crlf)

write_cells("csv", "header", "a header without rows", b"a,b\n")
write_cells("csv", "loose", "quotes inside cells, blank lines, and no newline at the end", b'a,b\n\n5" pipe,1\r\n\n6",2')
write_cells(
    "csv",
    "damaged",
    "rows of fewer and of more cells",
    b"a,b\n1,2\n3\n4,5,6\n7,8\n",
    valid=False,
)
parts = [table(TABLE[:2], lineterminator="\n"), table([TABLE[0]] + TABLE[2:], lineterminator="\n")]
write(
    "csv",
    "shards",
    "shards in a directory, of which one alone would be of other types",
    {f"data/part-{i}.csv": data for i, data in enumerate(parts)},
    read_cells(parts, ","),
    target="data",
)
