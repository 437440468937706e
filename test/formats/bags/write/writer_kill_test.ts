/** Killed writers: their output is complete, absent, or can be resumed. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { ShardedDatasetWriter } from "../../../../src/formats/bags/write/sharded_dataset_writer.ts";
import {
  filesBelow,
  naiveDataset,
  type RawDatapoint,
} from "../../../support/bags/naive_bags.ts";
import { LONG } from "../../../support/long.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { send } from "../../../support/programs/processes.ts";

const KILLS = LONG ? 12 : 4;
/** Number of times that a resumed writer is killed; it may finish before. */
const CONTINUED_KILLS = LONG ? 5 : 2;
const COUNT = 1000;
const SHARD = 230;
const SPEC = { small: "bytes", text: "bytes", large: "bytes" };

/** Writes `COUNT` datapoints to shards of 230, resuming existing ones. */
const WRITE = `
import { ShardedDatasetWriter } from "${REPOSITORY}src/formats/bags/write/sharded_dataset_writer.ts";
import { datapoint } from "./datapoint.ts";
const [path, generation] = Deno.args;
const options = { encoders: null, generation: Number(generation), shardLength: ${SHARD} };
console.log("begun");
const spec = ${JSON.stringify(SPEC)};
await using writer = await ShardedDatasetWriter.open(path, spec, options);
for (let i = writer.length; i < ${COUNT}; i++) {
  if (i % 2) await writer.write(datapoint(i));
  else writer.writeSync(datapoint(i));
  if (i % 40 === 39) await writer.flush();
}
await writer.close();`;

/** Makes deterministic datapoints. */
const DATAPOINT = `
export function datapoint(i) {
  return {
    small: Uint8Array.of(i, i >> 8),
    text: new Uint8Array(1 + i * 7 % 300).fill(i),
    large: new Uint8Array(i % 50 === 0 ? 400_000 : 1 + i * 31 % 20_000).fill(i),
  };
}`;

Deno.test("a killed writer of generation 3 can be resumed, with the result of an uninterrupted one", async () => {
  await withTempDir(async (dir) => {
    const script = writeScripts(dir);
    const { datapoint } = await import(`file://${dir}/datapoint.js`);
    const options = { encoders: null, shardLength: SHARD };
    await using whole = await ShardedDatasetWriter.open(
      `${dir}/whole`,
      SPEC,
      options,
    );
    for (let i = 0; i < COUNT; i++) await whole.write(datapoint(i));
    await whole.close();
    const path = `${dir}/killed`;
    let kills = 0;
    for (let runs = 0;; runs++) {
      assert.ok(runs < 200, "each run must get further");
      const before = lengthOf(path);
      const moment = kills < CONTINUED_KILLS ? Math.random() * 60 : undefined;
      const killed = await runUntil(script, moment, path, "3");
      const after = lengthOf(path);
      assert.ok(after >= before, `${after} datapoints after ${before}`);
      for (const [k, shard] of shardsOf(path).entries()) {
        for (const [i, values] of shard.entries()) {
          assertSame(values, datapoint(SHARD * k + i));
        }
      }
      if (!killed && kills === CONTINUED_KILLS) break;
      if (killed) kills++;
      if (after === COUNT) {
        fs.rmSync(path, { recursive: true }); // it was too fast to be killed: retry
      }
    }
    const files = filesBelow(path);
    const expected = filesBelow(`${dir}/whole`);
    assert.deepEqual([...files.keys()], [...expected.keys()]);
    assertSame(Object.fromEntries(files), Object.fromEntries(expected));
  });
});

for (const generation of [1, 2] as const) {
  Deno.test(`a killed writer of generation ${generation} leaves only complete shards`, async () => {
    await withTempDir(async (dir) => {
      const script = writeScripts(dir);
      const { datapoint } = await import(`file://${dir}/datapoint.js`);
      for (let kill = 0; kill < KILLS; kill++) {
        const path = `${dir}/${kill}`;
        await runUntil(script, Math.random() * 120, path, `${generation}`);
        if (!fs.existsSync(path)) continue;
        for (const name of fs.readdirSync(path).sort()) {
          if (/^\.00000\d\.recordfs-\d+-\d+\.part$/.test(name)) continue;
          assert.match(name, /^00000\d$/);
          const { spec, datapoints } = naiveDataset(
            `${path}/${name}`,
            generation,
          );
          assert.deepEqual(Object.keys(spec), ["large", "small", "text"]);
          const first = SHARD * Number(name);
          assert.equal(datapoints.length, Math.min(SHARD, COUNT - first));
          for (const i of datapoints.keys()) {
            assertSame(datapoints[i]!, datapoint(first + i));
          }
        }
      }
    });
  });
}

/** Compares with Buffer, which is faster than a comparison in JavaScript. */
function assertSame(actual: RawDatapoint, expected: RawDatapoint): void {
  for (const [name, bytes] of Object.entries(expected)) {
    const same = Buffer.compare(
      actual[name] as Uint8Array,
      bytes as Uint8Array,
    );
    assert.equal(same, 0, name);
  }
}

function writeScripts(dir: string): string {
  fs.writeFileSync(`${dir}/datapoint.js`, DATAPOINT);
  fs.writeFileSync(
    `${dir}/write.js`,
    WRITE.replace("datapoint.ts", "datapoint.js"),
  );
  return `${dir}/write.js`;
}

/** Runs the script, and kills it `moment` ms after its start; returns whether it was killed. */
async function runUntil(
  script: string,
  moment: number | undefined,
  ...args: string[]
): Promise<boolean> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--config",
      `${REPOSITORY}deno.json`,
      script,
      ...args,
    ],
    stdout: "piped",
  }).spawn();
  const output = child.stdout.getReader();
  await output.read();
  if (moment !== undefined) {
    await setTimeout(moment);
    send(child.pid, "SIGKILL");
  }
  const { success } = await child.status;
  await output.cancel();
  if (moment === undefined) assert.ok(success);
  return !success;
}

/** Returns the datapoints that a reader shows: for each shard, those that all keys have. */
function shardsOf(path: string) {
  if (!fs.existsSync(path)) return [];
  return fs.readdirSync(path).sort().flatMap((name) => {
    const shard = `${path}/${name}`;
    const isBegun = Object.keys(SPEC).every((key) =>
      fs.existsSync(`${shard}/${key}.idx`)
    );
    if (!isBegun || !fs.existsSync(`${shard}/spec.json`)) return [];
    for (const key of Object.keys(SPEC)) {
      const index = `${shard}/${key}.idx`;
      const size = fs.statSync(index).size;
      assert.equal(size % 8, 0);
    }
    return [naiveDataset(shard, 3).datapoints];
  });
}

function lengthOf(path: string): number {
  return shardsOf(path).reduce((sum, { length }) => sum + length, 0);
}
