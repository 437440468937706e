/** Mutations of tar headers, with corrected checksums. */
import { type Member, tarBytes } from "../../support/tar/make_tar.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const BLOCK = 512;

/** Offset and length of header fields. */
const FIELDS = {
  name: [0, 100],
  size: [124, 12],
  mtime: [136, 12],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

const TYPES = "01234567xgLKSDMVX\0Z";
const NAMES = [
  "/",
  "\ufeffx",
  "..",
  "a/../b",
  "./.",
  "",
  "a\0b",
  "\n",
  "x/".repeat(49),
];
const NUMBERS = ["", "9", "-1", " 7", "77777777777", "00000001000\0"];

/** Sets a field of a header, and corrects the checksum. */
const setHeader: Mutation = {
  name: "set field of a tar",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const headers = headersOf(bytes);
    if (headers.length === 0) return;
    const at = dice.pick(headers);
    const header = bytes.slice(at, at + BLOCK);
    const field = dice.pick(Object.keys(FIELDS)) as keyof typeof FIELDS;
    const [start, length] = FIELDS[field];
    const value = field === "type"
      ? text(dice.pick([...TYPES]))
      : field === "size" || field === "mtime"
      ? dice.once(2)
        ? text(dice.pick(NUMBERS))
        : base256(dice.pick(limitsAround(bytes.length, at)))
      : text(dice.pick(NAMES));
    header.fill(0, start, start + length);
    header.set(value.subarray(0, length), start);
    draft.overwrite(path, at, sealed(header), `${field} of a header`);
  },
};

/** Copies a header over another: paths occur twice, and sizes are too small. */
const copyHeader: Mutation = {
  name: "copy header of a tar",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const headers = headersOf(bytes);
    if (headers.length < 2) return;
    const [from, to] = [dice.pick(headers), dice.pick(headers)];
    const header = bytes.slice(from, from + BLOCK);
    draft.overwrite(path, to, header, `the header at ${from}`);
  },
};

/** Makes a directory with a size, marked as directory by its type or by a slash. */
const sizeDirectory: Mutation = {
  name: "size of a directory of a tar",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const headers = headersOf(bytes);
    if (headers.length === 0) return;
    const at = dice.pick(headers);
    const header = bytes.slice(at, at + BLOCK);
    const size = dice.pick([1, 511, 512, 513, 1024, bytes.length]);
    header.set(text(`${size.toString(8).padStart(11, "0")}\0`), 124);
    header.set(text(dice.pick(["d/\0", "5/\0", "d\0"])), 0);
    header.set(text(dice.pick(["0", "\0", "5", "D", "1", "2"])), 156);
    draft.overwrite(path, at, sealed(header), `a directory of ${size} bytes`);
  },
};

/** Zeros a header, which ends the archive early. */
const zeroHeader: Mutation = {
  name: "zero header of a tar",
  weight: 1,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const headers = headersOf(draft.bytes(path));
    if (headers.length === 0) return;
    const zeros = new Uint8Array(BLOCK * (1 + dice.int(3)));
    draft.overwrite(path, dice.pick(headers), zeros, "zeros");
  },
};

/** Makes a sparse file in GNU's old format, with numbers at their limits. */
const makeSparse: Mutation = {
  name: "holes in a tar",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const headers = headersOf(bytes);
    if (headers.length === 0) return;
    const at = dice.pick(headers);
    const header = bytes.slice(at, at + BLOCK);
    header.set(text("ustar  \0"), 257);
    header.set(text("S"), 156);
    const number = () =>
      dice.once(3)
        ? base256(dice.pick(limitsAround(bytes.length, at)))
        : text(`${dice.int(2000).toString(8).padStart(11, "0")}\0`);
    const pieces = dice.int(5);
    for (let i = 0; i < 2 * pieces; i++) header.set(number(), 386 + 12 * i);
    header[482] = dice.int(2);
    header.set(number(), 483);
    draft.overwrite(path, at, sealed(header), `${pieces} pieces of a file`);
  },
};

/** Shards that do not reveal their kind: with no file or one, or with only hidden names. */
const SAYING_NOTHING: readonly (readonly Member[] | undefined)[] = [
  [],
  undefined,
  [{ name: "d/", type: "5" }],
  [{ name: "last.txt", data: "1" }],
  [{ name: "no-extension" }],
  [{ name: "._0.txt" }, { name: ".DS_Store" }, { name: "./d/.x.txt" }],
  [{ name: "__meta__/a.txt" }, { name: "link.txt", type: "2", link: "a" }],
];

/** Position of such a shard: first, last, or in place of another. */
const PLACES = ["!.tar", "~.tar", undefined];

/** Adds a shard with no or hardly any files. */
const sayNothing: Mutation = {
  name: "shard without files",
  weight: 20, // few containers have shards
  apply(draft, dice) {
    const shard = pickNamed(draft, dice, /\/[^/]+\.tar$/);
    if (shard === undefined) return;
    const members = dice.pick(SAYING_NOTHING);
    const bytes = members === undefined ? new Uint8Array(0) : tarBytes(members);
    const name = dice.pick(PLACES);
    const path = name === undefined
      ? shard
      : shard.slice(0, shard.lastIndexOf("/") + 1) + name;
    draft.replace(path, bytes, `a shard of ${members?.length ?? "no"} members`);
  },
};

/** Reorders the members of a tar, so that files of a sample are not adjacent. */
const scatter: Mutation = {
  name: "scatter a tar",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.tar$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const headers = headersOf(bytes);
    if (headers.length < 3) return;
    const parts = headers.map((at, i) => bytes.slice(at, headers[i + 1]));
    const first = dice.int(parts.length);
    const [moved] = parts.splice(first, 1);
    parts.splice(dice.int(parts.length - 1), 0, moved!);
    const joined = new Uint8Array(bytes.length);
    joined.set(bytes.subarray(0, headers[0]));
    let end = headers[0]!;
    for (const part of parts) {
      joined.set(part, end);
      end += part.length;
    }
    draft.replace(path, joined, `the header at ${headers[first]} moved`);
  },
};

export const TAR_MUTATIONS: readonly Mutation[] = [
  setHeader,
  copyHeader,
  sizeDirectory,
  zeroHeader,
  makeSparse,
  sayNothing,
  scatter,
];

function headersOf(bytes: Uint8Array): number[] {
  const headers: number[] = [];
  for (let at = 0; at + BLOCK <= bytes.length; at += BLOCK) {
    const magic = bytes.subarray(at + 257, at + 262);
    if (new TextDecoder().decode(magic) === "ustar") headers.push(at);
  }
  return headers;
}

function sealed(header: Uint8Array): Uint8Array {
  header.fill(0x20, 148, 156);
  const sum = header.reduce((sum, byte) => sum + byte, 0);
  header.set(text(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return header;
}

function base256(value: bigint): Uint8Array {
  const bytes = integerBytes(value, 12, false);
  bytes[0]! |= 0x80;
  return bytes;
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
