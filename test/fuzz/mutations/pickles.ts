/** Pickles that no pickler writes, put where containers have theirs. */
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { joined } from "../../support/gulp/gulp_golden.ts";
import type { Dice } from "../dice.ts";
import type { Draft } from "../draft.ts";
import { ESCAPED, EVIL_NAMES } from "./evil.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";
import { ffrSamples } from "./parts.ts";

/** Start of a packed folder's last sample. */
const MAGIC = "piouhjgbr";

const NEW_DICT = "ccollections\nOrderedDict\n)R";

type Part = string | number | readonly number[] | Uint8Array;

/** Concatenates opcodes and arguments: texts as Latin-1, numbers as bytes. */
function bytesOf(...parts: readonly Part[]): Uint8Array {
  return joined(parts.map((part) => {
    if (part instanceof Uint8Array) return part;
    if (typeof part === "number") return Uint8Array.of(part);
    if (typeof part !== "string") return Uint8Array.from(part);
    return Uint8Array.from(part, (char) => char.charCodeAt(0));
  }));
}

function u32(value: number | bigint): Uint8Array {
  return integerBytes(BigInt(value), 4, true);
}

function u64(value: bigint): Uint8Array {
  return integerBytes(value, 8, true);
}

function text(value: string | Uint8Array): Uint8Array {
  const bytes = typeof value === "string"
    ? new TextEncoder().encode(value)
    : value;
  return bytesOf("X", u32(bytes.length), bytes);
}

function dictOf(entries: readonly (readonly [Uint8Array, Uint8Array])[]) {
  return bytesOf(NEW_DICT, "(", ...entries.flat(), "u");
}

function int(value: number): Uint8Array {
  return bytesOf("J", u32(value));
}

/** Values by name. Each leaves one value on the stack. */
const VALUES: Record<string, (dice: Dice) => Uint8Array> = {
  "tuples of themselves": (dice) =>
    bytesOf(
      ")q\x00",
      ...Array.from({ length: dice.size(8, 250) }, (_, i) =>
        bytesOf("h", i, "h", i, 0x86, "q", i + 1)),
    ),
  "dicts of themselves": (dice) => {
    const depth = dice.size(4, 200);
    const levels = Array.from(
      { length: depth },
      (_, i) =>
        bytesOf(
          dictOf([[text("a"), bytesOf("h", i)], [text("b"), bytesOf("h", i)]]),
          "q",
          i + 1,
        ),
    );
    return bytesOf(dictOf([[text("f"), int(0)]]), "q\x00", ...levels);
  },
  "nested dicts": (dice) => {
    const depth = dice.size(100, 60_000);
    const open = bytesOf(NEW_DICT, text("d"));
    return bytesOf(
      ...Array<Uint8Array>(depth).fill(open),
      int(0),
      "s".repeat(depth),
    );
  },
  "nested lists": (dice) => {
    const depth = dice.size(100, 200_000);
    return bytesOf("]".repeat(depth), "a".repeat(depth - 1));
  },
  "nested tuples": (dice) => {
    const depth = dice.size(100, 200_000);
    return bytesOf("(".repeat(depth), "t".repeat(depth));
  },
  "a list in itself": () => bytesOf("]q\x00h\x00a"),
  "a dict in itself": () => bytesOf(NEW_DICT, "q\x00", text("self"), "h\x00s"),
  "a long number": (dice) => {
    const length = dice.size(1, 200_000);
    return dice.once(2)
      ? bytesOf("\x8b", u32(length), dice.bytes(length))
      : bytesOf(
        dice.pick(["L", "I"]),
        "9".repeat(length),
        dice.pick(["L\n", "\n"]),
      );
  },
  "a length beyond the end": (dice) => {
    const value = dice.pick(limitsAround(100));
    const rest = dice.bytes(dice.int(64));
    return dice.once(2)
      ? bytesOf(
        dice.pick(["X", "B", "T", "\x8b"]),
        u32(BigInt.asUintN(32, value)),
        rest,
      )
      : bytesOf(dice.pick(["\x8d", "\x8e", "\x96", "\x95"]), u64(value), rest);
  },
  "memo at its limits": (dice) => {
    const value = BigInt.asUintN(32, dice.pick(limitsAround(100)));
    return dice.once(2)
      ? bytesOf("Nr", u32(value), "j", u32(value))
      : bytesOf(`Np${dice.pick(limitsAround(1e6))}\n`);
  },
  "put and get": (dice) =>
    bytesOf("Nq\x00", "h\x000".repeat(dice.size(100, 100_000))),
  "memoize": (dice) => bytesOf("N", "\x94".repeat(dice.size(100, 300_000))),
  "duplicates": (dice) => {
    const count = dice.size(100, 300_000);
    return bytesOf(
      "N",
      "2".repeat(count),
      dice.once(2) ? "0".repeat(count) : "",
    );
  },
  "os.system": (dice) => {
    const command = text(`touch ${ESCAPED}`);
    return dice.pick([
      () => bytesOf("cos\nsystem\n", command, "\x85R"),
      () => bytesOf("cposix\nsystem\n(", command, "tR"),
      () => bytesOf(text("os"), text("system"), "\x93", command, "\x85R"),
      () => bytesOf("(S'touch'\nios\nsystem\n"),
      () => bytesOf("(cos\nsystem\n", command, "o"),
      () => bytesOf("cos\nsystem\n", command, "\x85\x81"),
      () => bytesOf("cbuiltins\neval\n", text("1"), "\x85R"),
      () => bytesOf("cos\nsystem\n"),
    ])();
  },
  "an attribute of a class": (dice) =>
    bytesOf(
      dice.pick([
        "ccollections\nOrderedDict.fromkeys\n",
        "ccollections\nOrderedDict\n}b",
        "cgulpio.fileio\nImgInfo\n",
        "cgulpio2.fileio\nImgInfo\n(J\x00\x00\x00\x00tR",
        "c__builtin__\ngetattr\n",
        "c_codecs\nencode\n",
      ]),
    ),
  "state": (dice) => bytesOf(NEW_DICT, dice.pick(["}b", "Nb", "(tb", "]b"])),
  "odd items": () => bytesOf(NEW_DICT, "(", text("a"), "u"),
  "keys that are no names": (dice) =>
    dictOf([[
      dice.pick([
        int(1),
        bytesOf("N"),
        bytesOf("]"),
        bytesOf(")"),
        bytesOf("}"),
      ]),
      int(0),
    ]]),
  "names": (dice) => {
    const names = dice.some(EVIL_NAMES, 4);
    const value = () =>
      dice.once(3) ? dictOf([[text("x"), int(0)]]) : int(dice.int(2));
    return dictOf(
      [...names, ...names.slice(0, dice.int(2))].map((
        name,
      ) => [text(name), value()]),
    );
  },
  "numbers of samples": (dice) =>
    dictOf([[
      text("f"),
      dice.pick([
        () => int(-1),
        () => int(dice.int(100)),
        () => bytesOf("\x8a\x08", u64(dice.pick(limitsAround()))),
        () => bytesOf("G\x3f\xf0\0\0\0\0\0\0"),
        () => bytesOf("\x88"),
        () => bytesOf("N"),
        () => text("0"),
      ])(),
    ]]),
  "many names": (dice) =>
    dictOf(
      Array.from({ length: dice.size(100, 10_000) }, (_, i) =>
        [text(`n${i}`), int(0)] as const),
    ),
  "videos": (dice) => {
    const number = () =>
      bytesOf("\x8a\x08", u64(dice.pick(limitsAround(1000))));
    const info = () => bytesOf("](", number(), number(), number(), "e");
    const video = () =>
      dictOf([
        [
          text("frame_info"),
          bytesOf("](", ...Array.from({ length: dice.int(4) }, info), "e"),
        ],
        [text("meta_data"), bytesOf("]", dice.pick(["}a", "", "Na", "(}}e"]))],
      ]);
    return dictOf(
      dice.some(EVIL_NAMES, 3).map((name) => [text(name), video()]),
    );
  },
  "nothing": () => bytesOf("0"),
};

/** Returns a pickle of a random value. */
export function evilPickle(dice: Dice): { name: string; bytes: Uint8Array } {
  const name = dice.pick(Object.keys(VALUES));
  const head = dice.pick(["\x80\x02", "\x80\x04", "\x80\x05", "", "\x80\xff"]);
  const end = dice.once(20) ? "" : ".";
  return { name, bytes: bytesOf(head, VALUES[name]!(dice), end) };
}

/** Replaces a pickle of the container. */
function putPickle(
  draft: Draft,
  dice: Dice,
  change: (old: Uint8Array) => { name: string; bytes: Uint8Array },
): void {
  const path = pickNamed(draft, dice, /\.(ffr|gmeta|pickle)$/);
  if (path === undefined) return;
  const old = draft.bytes(path);
  if (!path.endsWith(".ffr")) {
    const { name, bytes } = change(old);
    return draft.replace(path, bytes, `a pickle: ${name}`);
  }
  const samples = ffrSamples(old);
  if (samples.length === 0) return;
  const last = samples.at(-1)!;
  const isPacked = new TextDecoder().decode(last.subarray(0, 9)) === MAGIC;
  const { name, bytes } = change(isPacked ? last.subarray(9) : last);
  const sample = bytesOf(MAGIC, bytes);
  const kept = isPacked ? samples.slice(0, -1) : samples;
  draft.replace(path, ffrBytes([...kept, sample]), `a packed folder: ${name}`);
}

const bomb: Mutation = {
  name: "pickle bomb",
  weight: 6,
  apply: (draft, dice) => putPickle(draft, dice, () => evilPickle(dice)),
};

/** Changes bytes of a pickle, and corrects the checksums. */
const changed: Mutation = {
  name: "changed pickle",
  weight: 4,
  apply: (draft, dice) =>
    putPickle(draft, dice, (old) => {
      const bytes = old.slice();
      const notes: string[] = [];
      for (let left = dice.size(1, 6); left > 0 && bytes.length > 0; left--) {
        const at = dice.int(bytes.length);
        const byte = dice.once(2)
          ? bytes[at]! ^ 1 << dice.int(8)
          : dice.pick([...".()[]{}0123456789NRbcehjloqrstuX"]).charCodeAt(0);
        bytes[at] = byte;
        notes.push(`${at} = ${byte & 255}`);
      }
      return { name: `changed at ${notes.join()}`, bytes };
    }),
};

export const PICKLE_MUTATIONS: readonly Mutation[] = [bomb, changed];
