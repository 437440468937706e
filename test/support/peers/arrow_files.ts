/** Parquet files that PyArrow writes for tests. */
import { pythonLines } from "../programs/python.ts";

/** Makes `full.parquet` and `gaps.parquet`: columns of all types, in row groups of two rows, without and with nulls. */
const WRITE = String.raw`
import datetime, decimal, sys, uuid
import pyarrow as pa, pyarrow.parquet as pq

D, nan, inf = decimal.Decimal, float("nan"), float("inf")
date, moment = datetime.date, datetime.datetime
pair = pa.struct([("a", pa.int64()), ("b", pa.list_(pa.float64()))])
FULL = {
    "bool": (pa.bool_(), [True, False, True, False, False]),
    "int8": (pa.int8(), [-128, 127, 0, 1, -1]),
    "int16": (pa.int16(), [-(2**15), 2**15 - 1, 0, 1, -1]),
    "int32": (pa.int32(), [-(2**31), 2**31 - 1, 0, 1, -1]),
    "int64": (pa.int64(), [-(2**63), 2**63 - 1, 0, 2**53 + 1, -1]),
    "uint8": (pa.uint8(), [0, 255, 1, 2, 3]),
    "uint16": (pa.uint16(), [0, 2**16 - 1, 1, 2, 3]),
    "uint32": (pa.uint32(), [0, 2**32 - 1, 1, 2, 3]),
    "uint64": (pa.uint64(), [0, 2**63 - 1, 2**53 + 1, 2, 3]),
    "half": (pa.float16(), [1.0, nan, -inf, -0.0, 6.103515625e-05]),
    "float": (pa.float32(), [1.0, nan, inf, -0.0, 0.10000000149011612]),
    "double": (pa.float64(), [1.0, nan, -inf, -0.0, 0.1]),
    "text": (pa.string(), ["", "häß ☃ 🦊", 'a\nb"c', "\0", "\ufeffx"]),
    "large_text": (pa.large_string(), ["", "a", "b", "c", "d"]),
    "text_view": (pa.string_view(), ["", "a", "b", "c", "d" * 40]),
    "blob": (pa.binary(), [b"", b"\x00\xff", b"abc", b"{}", b"1"]),
    "blob_view": (pa.binary_view(), [b"", b"\x00\xff", b"abc", b"{}", b"1"]),
    "fixed": (pa.binary(3), [b"abc", b"\0\1\2", b"\xff\xfe\xfd", b"xyz", b"   "]),
    "decimal9": (pa.decimal128(9, 2), [D("1.20"), D("-0.05"), D("0.00"), D("1234567.89"), D("-1.00")]),
    "decimal18": (pa.decimal128(18, 3), [D("1.200"), D("-99.999"), D("0.000"), D("1"), D("-1")]),
    "decimal38": (pa.decimal128(38, 10), [D("1234567890123456789012345678.0123456789"), D("-1.0000000001"), D("0"), D("1"), D("-1")]),
    "decimal76": (pa.decimal256(76, 0), [D("9" * 76), D("-" + "8" * 70), D("0"), D("1"), D("-1")]),
    "date": (pa.date32(), [date(1970, 1, 1), date(2024, 2, 29), date(1900, 12, 31), date(9999, 12, 31), date(1, 1, 1)]),
    "time_ms": (pa.time32("ms"), [datetime.time(0), datetime.time(23, 59, 59, 999000), datetime.time(12), datetime.time(1, 2, 3), datetime.time(0, 0, 0, 1000)]),
    "time_us": (pa.time64("us"), [datetime.time(0), datetime.time(23, 59, 59, 999999), datetime.time(12), datetime.time(1, 2, 3), datetime.time(0, 0, 0, 1)]),
    "stamp_s": (pa.timestamp("s"), [moment(1970, 1, 1), moment(2024, 2, 29), moment(1969, 12, 31, 23, 59, 59), moment(1, 1, 1), moment(9999, 12, 31)]),
    "stamp_ms": (pa.timestamp("ms"), [moment(1970, 1, 1), moment(2024, 2, 29, 1, 2, 3, 4000), moment(1969, 12, 31, 23, 59, 59, 999000), moment(1, 1, 1), moment(9999, 12, 31)]),
    "stamp_us": (pa.timestamp("us", "UTC"), [moment(1970, 1, 1), moment(2024, 2, 29, 1, 2, 3, 4), moment(1600, 1, 1), moment(1, 1, 1), moment(9999, 12, 31)]),
    "stamp_ns": (pa.timestamp("ns"), [moment(1970, 1, 1), moment(2024, 2, 29, 1, 2, 3, 4), moment(1969, 12, 31), moment(1700, 1, 1), moment(2200, 1, 1)]),
    "uuid": (pa.uuid(), [uuid.UUID(int=5), uuid.UUID("12345678-1234-5678-1234-567812345678"), uuid.UUID(int=0), uuid.UUID(int=1), uuid.UUID(int=2)]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a", "c", ""]),
    "codes": (pa.dictionary(pa.int8(), pa.int64()), [1, 2**60, 1, -1, 0]),
    "ints": (pa.list_(pa.int32()), [[1, 2], [3], [4, 5, 6], [-1], [0]]),
    "bytes": (pa.list_(pa.uint8()), [[1, 2], [255], [4, 5, 6], [0], [0]]),
    "longs": (pa.large_list(pa.int64()), [[2**63 - 1], [-(2**63)], [0, 1], [2], [3]]),
    "some_longs": (pa.list_(pa.int64()), [[2**63 - 1], [], [0, 1], [], [3]]),
    "halves": (pa.list_(pa.float16()), [[1.0], [nan], [inf, -0.0], [0.5], [2.0]]),
    "floats": (pa.list_(pa.float32(), 2), [[1.0, nan], [0.5, -0.0], [3, 4], [inf, -inf], [0, 0]]),
    "some_floats": (pa.list_(pa.float64()), [[1.0, nan], [], [3, 4], [inf, -inf], [-0.0]]),
    "bools": (pa.list_(pa.bool_()), [[True, False], [], [True], [False], []]),
    "texts": (pa.list_(pa.string()), [["a", ""], [], ["ä"], ["x", "y"], [""]]),
    "lists": (pa.list_(pa.list_(pa.int16())), [[[1], []], [], [[2, 3]], [[]], [[4]]]),
    "decimals": (pa.list_(pa.decimal128(5, 1)), [[D("1.5")], [], [D("-0.5"), D("0.0")], [], []]),
    "dates": (pa.list_(pa.date32()), [[date(2024, 2, 29)], [], [], [], []]),
    "stamps": (pa.list_(pa.timestamp("us")), [[moment(2024, 2, 29, 1, 2, 3, 4)], [], [], [], []]),
    "struct": (pair, [{"a": 2**60, "b": [1.0]}, {"a": 1, "b": []}, {"a": -1, "b": [nan]}, {"a": 0, "b": [-0.0]}, {"a": 2, "b": [0.5]}]),
    "deep": (pa.list_(pa.struct([("x", pa.list_(pa.string())), ("y", pa.bool_())])), [[{"x": ["u"], "y": True}], [], [{"x": [], "y": False}], [], []]),
    "map": (pa.map_(pa.string(), pa.int32()), [[("k", 1)], [], [("l", 2), ("", 3)], [], [("k", 0)]]),
    "a/b": (pa.int32(), [1, 2, 3, 4, 5]),
    "Größe": (pa.int32(), [1, 2, 3, 4, 5]),
}
GAPS = {
    "id": (pa.int64(), [0, 1, 2, 3, 4]),
    "int": (pa.int32(), [1, None, 3, 4, 5]),
    "text": (pa.string(), ["x", "y", None, "", "z"]),
    "flag": (pa.bool_(), [True, None, False, None, True]),
    "real": (pa.float64(), [1.0, 2.0, None, nan, -0.0]),
    "blob": (pa.binary(), [b"x", None, b"", b"y", None]),
    "list": (pa.list_(pa.int32()), [[1], [2, None], [3], None, []]),
    "struct": (pair, [{"a": 1, "b": None}, None, {"a": None, "b": [None]}, {"a": 2, "b": []}, {"a": 3, "b": [1.0]}]),
    "when": (pa.timestamp("us"), [moment(2024, 2, 29), None, moment(1970, 1, 1), moment(1, 1, 1), moment(2000, 1, 1)]),
}
for name, columns in ("full", FULL), ("gaps", GAPS):
    table = pa.table({key: pa.array(values, kind) for key, (kind, values) in columns.items()})
    pq.write_table(table, f"{sys.argv[1]}/{name}.parquet", row_group_size=2)
`;

/** Paths of the files that {@linkcode writeArrowFiles} makes. */
export interface ArrowFiles {
  /** Columns of all types, without nulls but with empty lists. */
  readonly full: string;
  /** A few types, with nulls. */
  readonly gaps: string;
}

/** Writes both files into a directory. */
export async function writeArrowFiles(dir: string): Promise<ArrowFiles> {
  await pythonLines(WRITE, "", { args: [dir] });
  return { full: `${dir}/full.parquet`, gaps: `${dir}/gaps.parquet` };
}
