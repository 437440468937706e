/** Reads bags and datasets by their description, independently of the library. */
import * as fs from "node:fs";

/** Generation of a bag's format. */
export type BagGeneration = 1 | 2 | 3;

/** Values of a datapoint, as bytes. */
export type RawDatapoint = Record<string, Uint8Array | Uint8Array[]>;

/** Content of a whole dataset. */
export interface RawDataset {
  readonly spec: Record<string, string>;
  readonly datapoints: RawDatapoint[];
}

/** Reads the records of a bag. */
export function naiveBag(
  path: string,
  generation: BagGeneration,
): Uint8Array<ArrayBuffer>[] {
  const bytes = fs.readFileSync(path);
  const numbers = (file: Uint8Array) => {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    return Array.from(
      { length: file.length / 8 },
      (_, i) => Number(view.getBigUint64(8 * i, true)),
    );
  };
  let ends: number[] = [];
  if (generation === 3) {
    ends = numbers(fs.readFileSync(path.replace(/\.bag$/, ".idx")));
  } else if (bytes.length > 0) {
    const [start] = numbers(bytes.subarray(-8)) as [number];
    ends = numbers(bytes.subarray(start));
    if (generation === 1) ends.shift();
  }
  return ends.map((end, i) =>
    new Uint8Array(bytes.slice(ends[i - 1] ?? 0, end))
  );
}

/** Reads a dataset without shards. */
export function naiveDataset(
  directory: string,
  generation: BagGeneration,
): RawDataset {
  const spec = JSON.parse(fs.readFileSync(`${directory}/spec.json`, "utf8"));
  const keys = Object.keys(spec);
  const bags = keys.map((key) =>
    naiveBag(`${directory}/${key}.bag`, generation)
  );
  const count = Math.min(...bags.map(({ length }) => length));
  const refs = generation === 3
    ? Array.from({ length: count }, (_, i) => keys.map(() => i))
    : naiveBag(`${directory}/refs.bag`, generation).map(naiveMsgpack);
  const datapoints = refs.map((of) =>
    Object.fromEntries(keys.map((key, k) => {
      const ref = (of as (number | number[])[])[k]!;
      if (typeof ref === "number") return [key, bags[k]![ref]!];
      const [first = 0, length = 0] = ref;
      return [key, bags[k]!.slice(first, first + length)];
    }))
  );
  return { spec, datapoints };
}

/** Decodes arrays and integers of MessagePack. */
function naiveMsgpack(bytes: Uint8Array): unknown {
  let at = 0;
  const number = (size: number) => {
    let value = 0;
    for (let i = 0; i < size; i++) value = value * 256 + bytes[at++]!;
    return value;
  };
  const array = (length: number): unknown[] =>
    Array.from({ length }, () => value());
  const value = (): unknown => {
    const head = bytes[at++]!;
    if (head < 0x80) return head;
    if (head >> 4 === 0x9) return array(head & 0xf);
    if (head === 0xdc) return array(number(2));
    if (head >= 0xcc && head <= 0xce) return number(1 << (head - 0xcc));
    throw new Error(`byte ${head}`);
  };
  const result = value();
  if (at !== bytes.length) throw new Error("bytes after the references");
  return result;
}

/** Reads all files below a directory, by path. */
export function filesBelow(directory: string): Map<string, Uint8Array> {
  const names = fs.readdirSync(directory, { recursive: true }) as string[];
  return new Map(
    names.sort()
      .filter((name) => fs.statSync(`${directory}/${name}`).isFile())
      .map((
        name,
      ) => [name, new Uint8Array(fs.readFileSync(`${directory}/${name}`))]),
  );
}
