/**
 * Opens a chunk `TIMES` times, keeps all results, and prints times and memory as JSON: `ours|json DATA META TIMES`.
 * Run with V8's `--expose-gc`, so that garbage does not count as memory in use.
 */
import { GulpChunk } from "../../src/formats/gulp/mod.ts";
import { anonymousMemory } from "../support/memory.ts";

/** Printed result: times in ms, and the memory that each opening added, in bytes. */
export interface MetaOpening {
  readonly taken: number[];
  readonly grown: number[];
  /** Sum of all frame lengths, which proves that both contenders read the same. */
  readonly sum: number;
}

type Meta = Record<
  string,
  { frame_info: [number, number, number][]; meta_data: unknown[] }
>;

/** Parses the file as the original libraries do, and visits every entry once, as any check must. */
function parseAndWalk(path: string): { held: unknown; sum: number } {
  const meta: Meta = JSON.parse(Deno.readTextFileSync(path));
  let sum = 0;
  for (const { frame_info: frames, meta_data: items } of Object.values(meta)) {
    if (items.length === 0) throw new Error("no meta_data");
    for (const [loc, pad, length] of frames) {
      if (!(loc >= 0 && pad >= 0 && pad <= length)) throw new Error("damaged");
      sum += length;
    }
  }
  return { held: meta, sum };
}

function open(data: string, meta: string): { held: unknown; sum: number } {
  const chunk = GulpChunk.loadSync(data, meta, { decode: false });
  return { held: chunk, sum: NaN };
}

/** Returns the sum of all frame lengths of an opened chunk; not timed. */
function sumOf(held: unknown): number {
  let sum = 0;
  for (const { frameInfo } of (held as GulpChunk).metaDict.values()) {
    for (const [, , length] of frameInfo) sum += length;
  }
  return sum;
}

async function memory(): Promise<number> {
  (globalThis as unknown as { gc(): void }).gc();
  return await anonymousMemory();
}

const [who, data, meta, times] = Deno.args as [string, string, string, string];
const taken: number[] = [];
const grown: number[] = [];
const all: { held: unknown; sum: number }[] = []; // keeps all open
for (let i = 0; i < Number(times); i++) {
  const before = await memory();
  const start = performance.now();
  all.push(who === "ours" ? open(data, meta) : parseAndWalk(meta));
  taken.push(performance.now() - start);
  grown.push(await memory() - before);
}
const [{ held, sum }] = all as [typeof all[0]];
const printed: MetaOpening = {
  taken,
  grown,
  sum: who === "ours" ? sumOf(held) : sum,
};
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(printed)));
