/** Mutations without knowledge of the format: bits, bytes, numbers, truncations and splices. */
import { joined } from "../../support/gulp/gulp_golden.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickFile,
} from "./mutation.ts";

const flipBits: Mutation = {
  name: "flip bits",
  weight: 4,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    for (let left = dice.size(1, 8); left > 0; left--) {
      const bytes = draft.bytes(path);
      const at = dice.int(bytes.length);
      const bit = dice.int(8);
      const flipped = Uint8Array.of(bytes[at]! ^ 1 << bit);
      draft.overwrite(path, at, flipped, `flip bit ${bit}`);
    }
  },
};

const setBytes: Mutation = {
  name: "set bytes",
  weight: 4,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const at = dice.int(draft.bytes(path).length);
    const length = dice.size(1, 64);
    const fill = dice.pick([0, 0xff, 0x7f, 0x80, 0x30, -1]);
    const bytes = fill < 0
      ? dice.bytes(length)
      : new Uint8Array(length).fill(fill);
    draft.overwrite(path, at, bytes, fill < 0 ? "garbage" : `all ${fill}`);
  },
};

/** Sets a number to a limit: at an aligned offset from either end, or where headers have fields. */
const setField: Mutation = {
  name: "set field",
  weight: 8,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const { length } = bytes;
    const width = dice.pick([8, 8, 4, 4, 2, 1]);
    const at = offsetOfField(dice.pick(["start", "end", "any", "header"]));
    const littleEndian = !dice.once(4);
    const old = readField(bytes, at, width, littleEndian);
    const value = dice.pick([
      ...limitsAround(length, at, Number(BigInt.asUintN(52, old))),
      old + BigInt(dice.size(1, 4096)),
      old - BigInt(dice.size(1, 4096)),
    ]);
    draft.overwrite(
      path,
      at,
      integerBytes(value, width, littleEndian),
      `${value} in ${width} bytes, ${littleEndian ? "little" : "big"}-endian`,
    );

    function offsetOfField(where: string): number {
      const aligned = dice.int(Math.ceil(length / width)) * width;
      switch (where) {
        case "start":
          return aligned;
        case "end":
          return Math.max(0, length - width - aligned);
        case "header": // FFRecord's fields are aligned to 4 bytes; a bag ends with its index
          return dice.once(2)
            ? Math.min(length, dice.pick([0, 4, 12, 16, 20]) + 8 * dice.int(4))
            : Math.max(0, length - 8 * (1 + dice.int(4)));
        default:
          return dice.int(length);
      }
    }
  },
};

function readField(
  bytes: Uint8Array,
  at: number,
  width: number,
  littleEndian: boolean,
): bigint {
  let value = 0n;
  for (let i = 0; i < width; i++) {
    const byte = bytes[at + (littleEndian ? width - 1 - i : i)] ?? 0;
    value = value << 8n | BigInt(byte);
  }
  return value;
}

const cut: Mutation = {
  name: "cut",
  weight: 4,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const some = Math.min(bytes.length, dice.size(1, bytes.length));
    const at = dice.int(bytes.length - some + 1);
    const [kept, how] = dice.pick<[Uint8Array[], string]>([
      [[bytes.subarray(0, bytes.length - some)], `cut ${some} from the end`],
      [[bytes.subarray(some)], `cut ${some} from the start`],
      [
        [bytes.subarray(0, at), bytes.subarray(at + some)],
        `cut [${at}, ${at + some})`,
      ],
      [[], "empty"],
    ]);
    draft.replace(path, joined(kept), how);
  },
};

const extend: Mutation = {
  name: "extend",
  weight: 2,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const length = dice.pick([1, 4, 7, 8, 16, dice.size(1, 100_000)]);
    const isZero = dice.once(2);
    const more = isZero ? new Uint8Array(length) : dice.bytes(length);
    const how = `${length} bytes of ${isZero ? "zeros" : "garbage"}`;
    const [parts, where] = dice.pick([
      [[bytes, more], "at the end"] as const,
      [[more, bytes], "at the start"] as const,
    ]);
    draft.replace(path, joined(parts), `${how} ${where}`);
  },
};

const moveWithin: Mutation = {
  name: "move within",
  weight: 3,
  apply(draft, dice) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const unit = dice.pick([1, 4, 8, 12, 64]);
    const count = Math.ceil(bytes.length / unit);
    const length = unit * Math.min(count, dice.size(1, 64));
    const from = unit * dice.int(count);
    const to = unit * dice.int(count);
    const piece = bytes.slice(from, from + length);
    const how = `${piece.length} bytes of ${from}`;
    if (dice.once(2)) draft.overwrite(path, to, piece, how);
    else {
      const parts = [bytes.subarray(0, to), piece, bytes.subarray(to)];
      draft.replace(path, joined(parts), `${how} inserted at ${to}`);
    }
  },
};

/** Inserts a part of another container of any format, or of another file of this one. */
const splice: Mutation = {
  name: "splice",
  weight: 4,
  apply(draft, dice, { originals }) {
    const path = pickFile(draft, dice);
    if (path === undefined) return;
    const donor = dice.pick(originals);
    const isOwn = dice.once(2);
    const names = isOwn ? draft.files : [...donor.files.keys()];
    if (names.length === 0) return;
    const name = dice.pick(names);
    const given = isOwn ? draft.bytes(name) : donor.files.get(name)!;
    const bytes = draft.bytes(path);
    const at = dice.int(bytes.length);
    const from = dice.int(given.length);
    const what = `${name}${isOwn ? "" : ` of ${donor.name}`}`;
    switch (dice.int(4)) {
      case 0:
        return draft.replace(path, given, `replaced by ${what}`);
      case 1:
        return draft.replace(
          path,
          joined([bytes.subarray(0, at), given.subarray(from)]),
          `from ${at} on ${what} from ${from} on`,
        );
      case 2:
        return draft.replace(
          path,
          joined([bytes, given]),
          `followed by ${what}`,
        );
      default: {
        const piece = given.subarray(from, from + dice.size(1, 4096));
        return draft.overwrite(path, at, piece, `${from} of ${what}`);
      }
    }
  },
};

export const BYTE_MUTATIONS: readonly Mutation[] = [
  flipBits,
  setBytes,
  setField,
  cut,
  extend,
  moveWithin,
  splice,
];
