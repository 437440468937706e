/** Bag records and FFRecord samples that no encoder writes, in otherwise valid containers. */
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { joined } from "../../support/gulp/gulp_golden.ts";
import { u64s } from "../../support/bags/make_bag.ts";
import type { Dice } from "../dice.ts";
import type { Draft } from "../draft.ts";
import { DTYPES, EVIL_NAMES } from "./evil.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";
import { bagRecords, ffrSamples, sealed } from "./parts.ts";

const utf8 = new TextEncoder();

function packText(text: string): Uint8Array {
  const bytes = utf8.encode(text);
  return joined([
    Uint8Array.of(0xdb),
    integerBytes(BigInt(bytes.length), 4, false),
    bytes,
  ]);
}

function packBytes(bytes: Uint8Array, claimed = BigInt(bytes.length)) {
  return joined([Uint8Array.of(0xc6), integerBytes(claimed, 4, false), bytes]);
}

function packNumber(value: bigint): Uint8Array {
  return joined([
    Uint8Array.of(value < 0n ? 0xd3 : 0xcf),
    integerBytes(value, 8, false),
  ]);
}

function packList(items: readonly Uint8Array[]): Uint8Array {
  return joined([
    Uint8Array.of(0xdd),
    integerBytes(BigInt(items.length), 4, false),
    ...items,
  ]);
}

/** Encodes a shape, whose product often exceeds the data. */
function packShape(dice: Dice): Uint8Array {
  const dimension = () =>
    dice.pick([
      () => packNumber(dice.pick(limitsAround(4))),
      () => Uint8Array.of(dice.int(5)),
      () => Uint8Array.of(0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0), // 1.5
      () => Uint8Array.of(0xc0),
    ])();
  const count = dice.once(10) ? dice.size(33, 20_000) : dice.int(5);
  return packList(Array.from({ length: count }, dimension));
}

/** MessagePack values by name. */
const VALUES: Record<string, (dice: Dice) => Uint8Array> = {
  "an array": (dice) =>
    packList([
      packText(dice.pick(DTYPES)),
      packShape(dice),
      packBytes(dice.bytes(dice.int(40))),
    ]),
  "an array in a tree": (dice) =>
    packList([
      packText("_"),
      packText(dice.pick(DTYPES)),
      packShape(dice),
      packBytes(dice.bytes(dice.int(40))),
    ]),
  "nested lists": (dice) => {
    const depth = dice.size(10, 200_000);
    return joined([new Uint8Array(depth).fill(0x91), Uint8Array.of(0xc0)]);
  },
  "nested maps": (dice) => {
    const depth = dice.size(10, 100_000);
    const levels = new Uint8Array(2 * depth).map((_, i) => i % 2 ? 0xc0 : 0x81);
    return joined([levels, Uint8Array.of(0xc0)]);
  },
  "a length beyond the end": (dice) => {
    const [byte, width] = dice.pick([
      ...[[0xdd, 4], [0xdf, 4], [0xdb, 4], [0xc6, 4], [0xc9, 4]] as const,
      ...[[0xdc, 2], [0xde, 2], [0xda, 2], [0xc5, 2], [0xd9, 1]] as const,
    ]);
    const length = dice.pick(limitsAround(100));
    return joined([
      Uint8Array.of(byte),
      integerBytes(length, width, false),
      dice.bytes(dice.int(64)),
    ]);
  },
  "a timestamp": (dice) =>
    joined([
      Uint8Array.of(dice.pick([0xd6, 0xd7, 0xd4, 0xd5]), 0xff),
      dice.bytes(8),
    ]),
  "a map": (dice) =>
    joined([
      Uint8Array.of(0x82),
      ...[0, 1].flatMap(() => [
        dice.pick([
          packText(dice.pick(EVIL_NAMES)),
          packNumber(1n),
          Uint8Array.of(0xc0),
          Uint8Array.of(0x90),
        ]),
        Uint8Array.of(1),
      ]),
    ]),
  "text that is not UTF-8": (dice) =>
    joined([Uint8Array.of(0xa8), dice.bytes(8)]),
  "references": (dice) =>
    packList(
      Array.from({ length: dice.int(6) }, () =>
        dice.pick([
          () => packNumber(dice.pick(limitsAround(10))),
          () =>
            packList([
              packNumber(dice.pick(limitsAround(10))),
              packNumber(dice.pick(limitsAround(10))),
            ]),
          () => packList([]),
          () => Uint8Array.of(dice.int(20)),
        ])()),
    ),
  "a number at its limit": (dice) => packNumber(dice.pick(limitsAround(10))),
  "garbage": (dice) => dice.bytes(dice.size(1, 200)),
  "nothing": () => new Uint8Array(0),
};

function evilRecord(dice: Dice): { name: string; bytes: Uint8Array } {
  const name = dice.pick(Object.keys(VALUES));
  return { name, bytes: VALUES[name]!(dice) };
}

/** Rewrites a bag with these records. */
function putRecords(
  draft: Draft,
  path: string,
  records: readonly Uint8Array[],
  generation: 1 | 2 | 3,
  how: string,
): void {
  let end = 0;
  const ends = records.map(({ length }) => end += length);
  if (generation === 3) {
    draft.replace(path, joined(records), how);
    draft.replace(path.replace(/bag$/, "idx"), u64s(ends), "its index");
    return;
  }
  const index = u64s(generation === 1 ? [0, ...ends] : ends);
  draft.replace(path, joined([...records, index]), how);
}

const record: Mutation = {
  name: "evil record",
  weight: 8,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.(bag|msgpack)$/);
    if (path === undefined) return;
    const { name, bytes } = evilRecord(dice);
    if (path.endsWith(".msgpack")) return draft.replace(path, bytes, name);
    const index = draft.entries.get(path.replace(/bag$/, "idx"));
    const bag = bagRecords(
      draft.bytes(path),
      index?.kind === "file" ? index.bytes : undefined,
    );
    if (bag === undefined || bag.records.length === 0) return;
    const { records, generation } = bag;
    const at = dice.int(records.length);
    records[at] = dice.once(3) ? changed(records[at]!, dice) : bytes;
    putRecords(draft, path, records, generation, `record ${at}: ${name}`);
  },
};

function changed(bytes: Uint8Array, dice: Dice): Uint8Array {
  const copy = bytes.slice();
  for (let left = dice.size(1, 4); left > 0 && copy.length > 0; left--) {
    copy[dice.int(copy.length)] = dice.int(256);
  }
  return copy;
}

/** Corrects checksums after damage, so that readers get past them. */
const seal: Mutation = {
  name: "fit checksums",
  weight: 8,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.ffr$/);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const samples = dice.once(2);
    const how = `checksums of ${samples ? "all" : "the header"} fitted`;
    if (bytes.length < 12) return;
    if (dice.once(3)) {
      // Sets a number of the header first, since other mutations seldom hit one.
      const at = dice.pick([4, 12 + 4 * dice.int(40)]);
      const width = dice.pick([4, 8]);
      const value = dice.pick(limitsAround(bytes.length, at));
      draft.overwrite(path, at, integerBytes(value, width, true), `${value}`);
    }
    draft.replace(path, sealed(draft.bytes(path), samples), how);
  },
};

const samples: Mutation = {
  name: "samples",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, /\.ffr$/);
    if (path === undefined) return;
    const samples = ffrSamples(draft.bytes(path));
    if (samples.length === 0) return;
    const at = dice.int(samples.length);
    const [list, how] = dice.pick([
      [samples.toSpliced(at, 1), `sample ${at} removed`] as const,
      [samples.toSpliced(at, 0, samples[at]!), `sample ${at} twice`] as const,
      [samples.toReversed(), "samples reversed"] as const,
      [
        samples.toSpliced(at, 1, dice.bytes(dice.int(100))),
        `sample ${at} garbage`,
      ] as const,
    ]);
    draft.replace(path, ffrBytes(list), how);
  },
};

export const RECORD_MUTATIONS: readonly Mutation[] = [record, seal, samples];
