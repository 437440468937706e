/**
 * Reads records one by one, or in batches: `WAY DIRECTORY INDICES BATCH`, as `reference/records.py`.
 *
 * @module
 */
import { open, openSamples } from "../../mod.ts";
import { BagReader } from "../../src/formats/bags/mod.ts";

type Bytes = Uint8Array;

/** Reads of one record, and of several. */
interface Reads {
  get(index: number): Bytes;
  batch?(indices: number[]): Bytes[];
}

async function samplesOf(path: string, format?: string): Promise<Reads> {
  const samples = await openSamples<object, { content: Bytes }>(path, {
    format,
  });
  return {
    get: (index) => samples.readSync(index).content,
    batch: (indices) => samples.readSync(indices).map(({ content }) => content),
  };
}

const WAYS: Record<string, (directory: string) => Promise<Reads>> = {
  async bags(directory) {
    const bag = await BagReader.open(`${directory}/x.bag`, { generation: 2 });
    return { get: (index) => bag.getSync(index) };
  },
  recordio: (directory) => samplesOf(`${directory}/x.rec`),
  "bagz-plain": (directory) => samplesOf(`${directory}/x.bag`, "bagz"),
  "bagz-random": (directory) => samplesOf(`${directory}/random.bagz`),
  bagz: (directory) => samplesOf(`${directory}/x.bagz`),
  lmdb: (directory) => samplesOf(`${directory}/x.lmdb`),
  async "lmdb-paths"(directory) {
    const files = await open(`${directory}/x.lmdb`);
    return {
      get: (index) => files.readSync(String(index).padStart(8, "0")),
    };
  },
};

const [way, directory, indicesPath, batch] = Deno.args;
const reads = await WAYS[way!]!(directory!);
const indices: number[] = JSON.parse(await Deno.readTextFile(indicesPath!));

readAll();
const start = performance.now();
const bytes = readAll();
const seconds = (performance.now() - start) / 1000;
Deno.stdout.writeSync(
  new TextEncoder().encode(JSON.stringify({ seconds, bytes })),
);
Deno.exit(0);

function readAll(): number {
  const most = Number(batch);
  let size = 0;
  for (let at = 0; at < indices.length; at += most) {
    const read = most === 1
      ? [reads.get(indices[at]!)]
      : reads.batch!(indices.slice(at, at + most));
    for (const record of read) size += record.length;
  }
  return size;
}
