/** Mutations of zips: fields of their headers and ends, each where its record is. */
import { Buffer } from "node:buffer";
import type { Dice } from "../dice.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

/** Records by what they begin with, and their fields: where each is, and its length. */
const RECORDS: readonly {
  readonly name: string;
  readonly signature: readonly number[];
  readonly fields: readonly (readonly [string, number, number])[];
}[] = [
  {
    name: "header",
    signature: [0x50, 0x4b, 3, 4],
    fields: [
      ["flags", 6, 2],
      ["method", 8, 2],
      ["CRC-32", 14, 4],
      ["packed", 18, 4],
      ["size", 22, 4],
      ["path length", 26, 2],
      ["extra length", 28, 2],
    ],
  },
  {
    name: "entry",
    signature: [0x50, 0x4b, 1, 2],
    fields: [
      ["system", 5, 1],
      ["flags", 8, 2],
      ["method", 10, 2],
      ["time", 12, 4],
      ["CRC-32", 16, 4],
      ["packed", 20, 4],
      ["size", 24, 4],
      ["path length", 28, 2],
      ["extra length", 30, 2],
      ["comment length", 32, 2],
      ["mode", 40, 2],
      ["place", 42, 4],
    ],
  },
  {
    name: "end",
    signature: [0x50, 0x4b, 5, 6],
    fields: [
      ["disk", 4, 2],
      ["count", 10, 2],
      ["length", 12, 4],
      ["place", 16, 4],
      ["comment length", 20, 2],
    ],
  },
  {
    name: "wide end",
    signature: [0x50, 0x4b, 6, 6],
    fields: [["count", 32, 8], ["length", 40, 8], ["place", 48, 8]],
  },
  {
    name: "locator",
    signature: [0x50, 0x4b, 6, 7],
    fields: [["place", 8, 8], ["disks", 16, 4]],
  },
];

const ENTRY = RECORDS[1]!;
const END = RECORDS[2]!;

const SMALL = [0n, 1n, 8n, 9n, 16n, 93n, 99n, 0x808n, 0x1180n, 0xa1ffn];
const ZIP = /\.(zip|exe)$/;

/** A field of a record, with a number at some limit. */
const setField: Mutation = {
  name: "set field of a zip",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, ZIP);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const record = dice.pick(RECORDS);
    const places = placesOf(bytes, record.signature);
    if (places.length === 0) return;
    const at = dice.pick(places);
    const [name, offset, length] = dice.pick(record.fields);
    const value = dice.once(3)
      ? dice.pick(SMALL)
      : dice.pick(limitsAround(bytes.length, at));
    const field = integerBytes(value, length, true);
    draft.overwrite(
      path,
      at + offset,
      field,
      `${name} of a zip's ${record.name}`,
    );
  },
};

/** A header of the directory where another one is: contents that lie in one another, paths that come twice. */
const copyEntry: Mutation = {
  name: "copy entry of a zip",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, ZIP);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const places = placesOf(bytes, ENTRY.signature);
    if (places.length < 2) return;
    const [from, to] = [dice.pick(places), dice.pick(places)];
    const fixed = bytes.slice(from, from + 46);
    draft.overwrite(path, to, fixed, `the zip's entry at ${from}`);
  },
};

/** Names that no path can show, or that other programs spell otherwise. */
const NAMES = [
  ...["../", "/", "//", "./", "a/", "\0", "\\", "\x82", "\xff", "-"],
  "\xef\xbb\xbf", // U+FEFF
];

/** Some of the bytes of a name: in both headers of a member, or in one of them. */
const setName: Mutation = {
  name: "set name of a zip",
  weight: 4,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, ZIP);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const entries = placesOf(bytes, ENTRY.signature);
    if (entries.length === 0) return;
    const entry = dice.pick(entries);
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const length = view.getUint16(entry + 28, true);
    const header = view.getUint32(entry + 42, true);
    const name = Uint8Array.from(
      dice.pick(NAMES),
      (char) => char.charCodeAt(0),
    ).subarray(0, length);
    const places = dice.once(2)
      ? [entry + 46, header + 30]
      : [dice.pick([entry + 46, header + 30])];
    for (const place of places) {
      if (place + name.length > bytes.length) continue;
      draft.overwrite(path, place, name, "a name of a zip");
    }
  },
};

/** Changes of a zip's end record: how many there are, the directory's offset, trailing bytes. */
const ENDS: Readonly<
  Record<string, (bytes: Uint8Array, at: number, dice: Dice) => Uint8Array[]>
> = {
  "its end record twice": (bytes, at) => [bytes, bytes.subarray(at)],
  "its directory and end record twice": (bytes, at, dice) => {
    const first = dice.pick(placesOf(bytes, ENTRY.signature)) ?? at;
    return [bytes, bytes.subarray(first)];
  },
  "a trailing empty end record": (bytes, at) => [bytes, endOf(bytes, at, 0, 0)],
  "its end record again in its comment": (bytes, at, dice) => {
    const comment = bytes.subarray(at, at + 22);
    return [
      ...[bytes.subarray(0, at), endOf(bytes, at, undefined, 22), comment],
      bytes.subarray(0, dice.int(9)),
    ];
  },
  "a truncated comment": (bytes, at, dice) => {
    const cut = endOf(bytes, at, undefined, 1 + dice.int(0xffff));
    return [bytes.subarray(0, at), cut, bytes.subarray(0, dice.int(3))];
  },
  "a second end record with a truncated comment": (bytes, at, dice) => [
    ...[bytes, bytes.subarray(0, dice.int(60))],
    endOf(bytes, at, undefined, 1 + dice.int(9)),
  ],
  "its end record elsewhere": (bytes, at, dice) => {
    const to = dice.int(at + 1);
    return [
      ...[bytes.subarray(0, to), bytes.subarray(at), bytes.subarray(to, at)],
      dice.once(2) ? bytes.subarray(at) : bytes.subarray(0, 0),
    ];
  },
  "the same zip twice": (bytes) => [bytes, bytes],
  "a part of the zip as its prefix": (bytes, _at, dice) => [
    bytes.subarray(dice.int(bytes.length)),
    bytes,
  ],
  "trailing bytes": (bytes, _at, dice) => [
    bytes,
    bytes.subarray(0, dice.int(100)),
  ],
};

/** An end record with another count and another comment length. */
function endOf(
  bytes: Uint8Array,
  at: number,
  count: number | undefined,
  comment: number,
): Uint8Array {
  const end = bytes.slice(at, at + 22);
  const view = new DataView(end.buffer);
  if (count !== undefined) {
    view.setUint16(8, count, true);
    view.setUint16(10, count, true);
    view.setUint32(12, 0, true);
    view.setUint32(16, 0, true);
  }
  view.setUint16(20, comment, true);
  return end;
}

/** Ends that programs find in different places (CVE-2024-24789). */
const moveEnd: Mutation = {
  name: "move end of a zip",
  weight: 4,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, ZIP);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const at = placesOf(bytes, END.signature).at(-1);
    if (at === undefined) return;
    const how = dice.pick(Object.keys(ENDS));
    draft.replace(path, joined(ENDS[how]!(bytes, at, dice)), how);
  },
};

export const ZIP_MUTATIONS: readonly Mutation[] = [
  setField,
  setName,
  copyEntry,
  moveEnd,
];

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function placesOf(bytes: Uint8Array, signature: readonly number[]): number[] {
  const places: number[] = [];
  for (let at = 0; at + 46 <= bytes.length + 24; at++) {
    if (signature.every((byte, i) => bytes[at + i] === byte)) places.push(at);
  }
  return places;
}
