/** Mutations of text metadata: JSON of specs, videos and labels, and headers of arrays. */
import type { Dice } from "../dice.ts";
import { DTYPES, EVIL_NAMES } from "./evil.ts";
import { limitsAround, type Mutation, pickNamed } from "./mutation.ts";

const TEXTS = /\.(jsonl?|gmeta|npy)$/;

const NUMBERS = [
  ...["0", "-0", "-1", "0.5", "1.0", "1e400", "-1e400", "1e-400", "1E5"],
  ...["NaN", "Infinity", "-Infinity", "00", "+1", "0x10", "1.", ".5"],
  ...limitsAround().map(String),
  "9".repeat(400),
];

const TYPES = [
  ...["utf8", "bytes", "int", "int(8)", "int(0)", "int(99999999999)", "i64"],
  ...["u64", "msgpack", "array", "array(float32,4)", "array(float32,-1)"],
  ...["array(float32,99999999999,99999999999)", "array(object)", "tree"],
  ...["jpeg", "png", "mp4", "utf8[]", "utf8[][]", "[]", "()", "int(", "own"],
  ...["array(float32,4294967296,4294967296)", "int(9007199254740993)"],
];

/** Whole documents by name. */
const DOCUMENTS: Record<string, (dice: Dice) => string> = {
  "nested lists": (dice) => {
    const depth = dice.size(10, 200_000);
    return "[".repeat(depth) + (dice.once(2) ? "]".repeat(depth) : "");
  },
  "nested objects": (dice) => {
    const depth = dice.size(10, 100_000);
    return '{"a":'.repeat(depth) + "1" + "}".repeat(depth);
  },
  "the same key again and again": (dice) =>
    `{${Array(dice.size(2, 20_000)).fill('"a":"utf8"').join()}}`,
  "many keys": (dice) =>
    `{${
      Array.from({ length: dice.size(100, 10_000) }, (_, i) => `"k${i}":${i}`)
        .join()
    }}`,
  "odd keys": (dice) =>
    `{${
      dice.some(EVIL_NAMES, 5).map((name) =>
        `${JSON.stringify(name)}:${
          dice.pick([
            '"utf8"',
            '"int"',
            "1",
            '{"frame_info":[],"meta_data":[{}]}',
          ])
        }`
      ).join()
    }}`,
  "types": (dice) =>
    `{${
      dice.some(TYPES, 4).map((type, i) => `"k${i}":${JSON.stringify(type)}`)
        .join()
    }}`,
  "U+FEFF first": (dice) => {
    const name = dice.pick(["\ufeff", "\ufeffa", "\ufeffutf8"]);
    const text = JSON.stringify({ [name]: "utf8", a: name });
    return dice.once(2) ? text : `\ufeff${text}`;
  },
  "videos": (dice) => {
    const info = () =>
      `[${
        [0, 1, 2].map(() => dice.pick(NUMBERS)).slice(dice.once(9) ? 1 : 0)
          .join()
      }]`;
    const list = Array.from({ length: dice.int(4) }, info).join();
    return `{"v":{"frame_info":[${list}],"meta_data":[${
      dice.pick(["{}", "", "1", "{},{}", "null", '{"label":1e400}'])
    }]}}`;
  },
  "a number": (dice) => dice.pick(NUMBERS),
  "another value": (dice) =>
    dice.pick(["null", "true", '""', "[]", "{}", '"x"', "[1,2]"]),
  "space": (dice) => " \n".repeat(dice.size(1, 500_000)),
  "a mark of byte order": () => "\ufeff{}",
};

const document: Mutation = {
  name: "another document",
  weight: 4,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.(jsonl?|gmeta)$/);
    if (path === undefined) return;
    const name = dice.pick(Object.keys(DOCUMENTS));
    const bytes = encode(DOCUMENTS[name]!(dice));
    draft.replace(path, bytes, `a document: ${name}`);
  },
};

/** Replaces a token by another one. */
const token: Mutation = {
  name: "another token",
  weight: 8,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, TEXTS);
    if (path === undefined) return;
    // Latin-1 keeps all bytes, including the array data after a .npy header.
    const text = new TextDecoder("latin1").decode(draft.bytes(path));
    const tokens = [...text.matchAll(
      /"(?:[^"\\]|\\.)*"|'[^']*'|-?\d[\d.eE+-]*|[[\]{},:()]/g,
    )];
    if (tokens.length === 0) return;
    const { 0: old, index } = dice.pick(tokens);
    const made = otherToken(old, dice);
    const changed = text.slice(0, index) + made +
      text.slice(index + old.length);
    const how = `${clipped(old)} becomes ${clipped(made)}`;
    draft.replace(path, latin1(changed), how);
  },
};

function otherToken(old: string, dice: Dice): string {
  if (dice.once(6)) {
    return dice.pick(["", old + old, `[${old}]`, `${old},${old}`]);
  }
  if (old[0] === "'") {
    return dice.pick([
      "'<U99999999'",
      "'|O'",
      "'|V0'",
      "''",
      "'shape'",
      "'descr'",
    ]);
  }
  if (old[0] === '"') {
    const text = dice.pick(dice.pick([TYPES, EVIL_NAMES, DTYPES]));
    return dice.pick([
      () => utf8AsLatin1(JSON.stringify(text)),
      () => '"\\ud800"',
      () => '"\\u0000"',
      () => `"${"long ".repeat(dice.size(10, 200_000))}"`,
      () => dice.pick(NUMBERS),
      () => "null",
    ])();
  }
  if (/[-\d]/.test(old[0]!)) {
    return dice.once(6)
      ? dice.pick(['"1"', "null", "[]", "{}"])
      : dice.pick(NUMBERS);
  }
  return dice.pick(["", ..."[]{},:()", '"'.repeat(2)]);
}

function clipped(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function utf8AsLatin1(text: string): string {
  return String.fromCharCode(...encode(text));
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

export const TEXT_MUTATIONS: readonly Mutation[] = [document, token];
