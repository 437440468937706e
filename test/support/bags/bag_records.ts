/** Reads records of bag files by the format's description. */
import { fromFileUrl } from "../paths.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));

/** A dataset directory that the original Python library wrote. */
export interface GoldenBags {
  readonly dir: string;
  readonly generation: 1 | 2 | 3;
  /** Types of the keys. */
  readonly spec: Readonly<Record<string, string>>;
  readonly content: {
    /** For each datapoint, the index of its record in each key's bag, in the order of sorted keys. */
    readonly refs: readonly (readonly number[])[];
    /** Values as `expect.json` describes them. Not all sets have them. */
    readonly datapoints?: readonly Readonly<Record<string, unknown>>[];
  };
}

/** Reads one case, such as `bags/types`. */
export function goldenBags(name: string): GoldenBags {
  const dir = `${ROOT}${name}/data`;
  const { content, info } = JSON.parse(
    Deno.readTextFileSync(`${ROOT}${name}/expect.json`),
  );
  const spec = JSON.parse(Deno.readTextFileSync(`${dir}/spec.json`));
  const generation = name.startsWith("granular3") ? 3 : info.generation ?? 1;
  return { dir, generation, spec, content };
}

/** Reads all records of a key. */
export function recordsOf(
  { dir, generation }: GoldenBags,
  key: string,
): Uint8Array<ArrayBuffer>[] {
  const data = Deno.readFileSync(`${dir}/${key}.bag`);
  const start = generation === 3
    ? data.length
    : Number(numbersIn(data.subarray(-8))[0]!);
  const table = generation === 3
    ? Deno.readFileSync(`${dir}/${key}.idx`)
    : data.subarray(start);
  const limits = numbersIn(table);
  if (generation !== 1) limits.unshift(0);
  return limits.slice(1).map((end, i) => data.slice(limits[i], end));
}

function numbersIn(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from(
    { length: bytes.length / 8 },
    (_, i) => Number(view.getBigUint64(8 * i, true)),
  );
}

/** Splits a type of a spec into its word and its arguments. */
export function parseType(type: string): { word: string; args: string[] } {
  const [, word, args] = /^(\w+)(?:\((.*)\))?$/.exec(type)!;
  return { word: word!, args: args === undefined ? [] : args.split(",") };
}
