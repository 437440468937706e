/** Mutations of tars: headers whose checksums fit what was changed in them. */
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const BLOCK = 512;

/** Fields of headers, with their lengths. */
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
const NAMES = ["/", "..", "a/../b", "./.", "", "a\0b", "\n", "x/".repeat(49)];
const NUMBERS = ["", "9", "-1", " 7", "77777777777", "00000001000\0"];

/** A field of a header, its checksum made anew. */
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

/** A member once more, where another one is: paths that come twice, headers that say less than follows. */
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

export const TAR_MUTATIONS: readonly Mutation[] = [setHeader, copyHeader];

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
