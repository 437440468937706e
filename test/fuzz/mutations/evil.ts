/** A path that must never be written to. */
export const ESCAPED = "/tmp/recordfs-fuzz-escaped";

/** Names that programs tend to mishandle, or that lead out of a directory. */
export const EVIL_NAMES: readonly string[] = [
  "..",
  ".",
  "",
  "/",
  "a/b",
  "../escaped",
  "../../../../../../../../../../../../tmp/recordfs-fuzz-escaped",
  ESCAPED,
  "nul\0l",
  "new\nline",
  "\x1b[2J\x1b]0;title\x07",
  "right\u202eto left",
  "\u2066isolate",
  "lone \ud800 surrogate",
  "\udcff",
  "__proto__",
  "constructor",
  "toString",
  "0",
  "10",
  "-1",
  "1e3",
  "spec.json",
  "label2idx.json",
  "meta.json",
  "frame_0001.jpg",
  "000000",
  "%2F",
  "~",
  "x".repeat(255),
  "x".repeat(256),
  "é".repeat(200),
  "y".repeat(5000),
  "\ufeffbom",
  "\u0301",
  "😀",
  " ",
  "*?[",
];

/** NumPy's array types, including unsupported and huge ones. */
export const DTYPES: readonly string[] = [
  ...["<f4", "<f8", "|u1", "|b1", "<i8", ">u2", "<c16", "<M8[ns]", "<m8"],
  ...["<U4", "<U99999999", "|S2147483648", "|V0", "|V4294967296", "|O", "O"],
  ...[
    "",
    "f",
    "<f3",
    "<f99999999999999999999",
    "=f4",
    "<f4,<f4",
    "[('a','<f4')]",
  ],
];
