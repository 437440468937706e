/** Writes bags and datasets byte by byte, by the README of the original. */
import type { Generation } from "../../../src/formats/bags/mod.ts";
import { joined } from "../gulp/gulp_golden.ts";

/** Datapoint for {@linkcode writeDataset}: one record per key, or a list of them. */
export type Records = Readonly<
  Record<string, Uint8Array | readonly Uint8Array[]>
>;

/** Encodes integers as little-endian u64. */
export function u64s(values: readonly (number | bigint)[]): Uint8Array {
  return new Uint8Array(BigUint64Array.from(values, BigInt).buffer);
}

/** Writes a bag of `records`, and its `.idx` if its generation has one. */
export function writeBag(
  path: string,
  records: readonly Uint8Array[],
  generation: Generation,
): void {
  let end = 0;
  const ends = records.map(({ length }) => end += length);
  if (generation === 3) {
    Deno.writeFileSync(path, joined(records));
    Deno.writeFileSync(path.replace(/bag$/, "idx"), u64s(ends));
    return;
  }
  const index = generation === 1 ? [0, ...ends] : ends;
  Deno.writeFileSync(path, joined([...records, u64s(index)]));
}

/** Encodes the references of a datapoint as a MessagePack array. */
export function packReferences(
  references: readonly (number | readonly number[])[],
): Uint8Array {
  const integer = (value: number) =>
    value < 0x80
      ? [value]
      : [0xce, value >>> 24, value >>> 16, value >>> 8, value];
  return Uint8Array.from([
    0xdc,
    references.length >> 8,
    references.length,
    ...references.flatMap((of) =>
      typeof of === "number"
        ? integer(of)
        : [0x90 | of.length, ...of.flatMap(integer)]
    ),
  ]);
}

/** Writes a dataset, with the keys in the order of `spec`. */
export function writeDataset(
  directory: string,
  spec: Readonly<Record<string, string>>,
  datapoints: readonly Records[],
  generation: Generation,
): void {
  Deno.mkdirSync(directory, { recursive: true });
  Deno.writeTextFileSync(`${directory}/spec.json`, JSON.stringify(spec));
  const bags = Object.keys(spec).map((key) => ({
    key,
    records: [] as Uint8Array[],
  }));
  const refs = datapoints.map((datapoint) =>
    packReferences(bags.map(({ key, records }) => {
      const value = datapoint[key]!;
      if (value instanceof Uint8Array) return records.push(value) - 1;
      const first = records.length;
      records.push(...value);
      return value.length === 0 ? [] : [first, value.length];
    }))
  );
  for (const { key, records } of bags) {
    writeBag(`${directory}/${key}.bag`, records, generation);
  }
  if (generation < 3) writeBag(`${directory}/refs.bag`, refs, generation);
}
