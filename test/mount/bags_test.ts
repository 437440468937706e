/** Programs on real mounts of bags and datasets, mounted by the command line. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { readNpy } from "../../src/codecs/numpy/mod.ts";
import { withMountPlace } from "../cli/mount/mount_place.ts";
import { CLI, run } from "../cli/run_cli.ts";
import { type DatasetCase, datasetCase } from "../support/bags/bag_golden.ts";
import { filesOf, numberName } from "../support/bags/bag_trees.ts";
import { sha256 } from "../support/golden.ts";
import {
  packReferences,
  type Records,
  u64s,
  writeDataset,
} from "../support/bags/make_bag.ts";
import { FULL, LONG } from "../support/long.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** More shards than DESCRIPTORS, counted by all their files, and by the files that are read alone. */
const SHARDS = LONG ? 1000 : FULL ? 250 : 100;
const KEYS = 20;
/** Keys whose names end in 0 or 5. */
const READ_KEYS = [0, 5, 10, 15];
/** Limit of open files of the mounting process: four times less than usual, but real on some systems. */
const DESCRIPTORS = 256;
/** Number of datapoints, and the most anonymous memory of the server in KiB. 20 bytes per datapoint would exceed it. */
const [MANY, MOST_KB] = LONG
  ? [10_000_000, 300_000] as const
  : [2_000_000, 110_000] as const;

const utf8 = (text: string) => new TextEncoder().encode(text);

/** Mounts a container with these flags, in a process with few descriptors, while `body` runs. */
async function mounted(
  source: string,
  flags: readonly string[],
  body: (mountpoint: string, server: number) => Promise<void>,
): Promise<void> {
  await withMountPlace(async ({ mountpoint, env, recordfs, listed }) => {
    const mount = await run([
      "sh",
      "-c",
      `ulimit -n ${DESCRIPTORS}; exec "$@"`,
      "sh",
      Deno.execPath(),
      "run",
      "-A",
      CLI,
      "mount",
      ...flags,
      source,
      mountpoint,
    ], { env });
    assert.equal(mount.code, 0, mount.stderr);
    await body(mountpoint, (await listed())!.pid as number);
    const ended = await recordfs("unmount", mountpoint);
    assert.equal(ended.code, 0, ended.stderr);
  });
}

async function succeed(...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  assert.equal(code, 0, `${command.join(" ")}\n${stderr}`);
  return stdout;
}

/** Compares the names, sizes and SHA-256 of mounted files, as `find` and `sha256sum` print them, with `expect.json`. */
async function assertMounted(
  mountpoint: string,
  { content, path }: DatasetCase,
): Promise<void> {
  const printed = await succeed(
    "sh",
    "-c",
    'cd "$0" && find . -type f ! -name spec.json -printf "%s\\n" -exec sha256sum {} \\;',
    mountpoint,
  );
  const lines = printed.trimEnd().split("\n");
  const seen = new Map<string, { size: number; sha256: string }>();
  for (let i = 0; i < lines.length; i += 2) {
    const [hash, name] = lines[i + 1]!.split("  ./");
    seen.set(name!, { size: Number(lines[i]), sha256: hash! });
  }
  const expected = filesOf(content!);
  assert.deepEqual([...seen.keys()].sort(), [...expected.keys()].sort());
  for (const [name, { size, sha256 }] of expected) {
    assert.deepEqual(seen.get(name), { size, sha256 });
  }
  const spec = content!.sharded ? "000000/spec.json" : "spec.json";
  await succeed("cmp", `${path}/${spec}`, `${mountpoint}/${spec}`);
}

const GOLDEN = [
  ...["bags/sharded", "granular2/sharded", "granular3/killed_writer"],
  ...FULL ? ["bags/lists", "granular/types", "granular3/sharded"] : [],
];

for (const name of GOLDEN) {
  Deno.test({
    name: `${name}: mounted, it is as written`,
    ...needs("fuse"),
    fn: () => {
      const golden = datasetCase(name);
      return mounted(golden.path, [], async (mountpoint) => {
        await assertMounted(mountpoint, golden);
        const list = ["sh", "-c", 'tar -C "$0" -c . | tar -t | wc -l'];
        const archived = Number(await succeed(...list, mountpoint));
        const found = await succeed("find", mountpoint);
        assert.equal(archived, found.trimEnd().split("\n").length);
      });
    },
  });
}

Deno.test({
  name: "numpy reads raw values and .npy views on a mount",
  ...needs("fuse", "numpy"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      const rows = [0, 1, 2].map((i) => Float32Array.of(i, -i, i / 2));
      const datapoints = rows.map((row, i) => ({
        a: new Uint8Array(row.buffer),
        n: Uint8Array.of(i),
      }));
      writeDataset(
        `${dir}/data`,
        { a: "array(float32,3)", n: "int" },
        datapoints,
        1,
      );
      await mounted(`${dir}/data`, ["--decoded"], async (mountpoint) => {
        const script = `
import numpy, json, sys
for i in range(3):
    folder = f"{sys.argv[1]}/{i:06}/"
    raw = numpy.frombuffer(open(folder + "a", "rb").read(), "<f4")
    npy = numpy.load(folder + "a.npy")
    mapped = numpy.load(folder + "a.npy", mmap_mode="r")
    assert npy.dtype == numpy.float32 and npy.shape == (3,)
    assert (raw == npy).all() and (mapped == npy).all()
    print(json.dumps([npy.tolist(), json.load(open(folder + "n.json"))]))`;
        const printed = await succeed(PYTHON, "-c", script, mountpoint);
        assert.deepEqual(
          printed.trimEnd().split("\n").map((line) => JSON.parse(line)),
          rows.map((row, i) => [[...row], i]),
        );
      });
    }),
});

Deno.test({
  name: "a large view is read in parts",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      const values = Float64Array.from({ length: 3_000_000 }, (_, i) => i);
      const datapoints = [{ a: new Uint8Array(values.buffer) }];
      const spec = { a: `array(float64,${values.length})` };
      writeDataset(`${dir}/data`, spec, datapoints, 2);
      await mounted(`${dir}/data`, ["--decoded"], async (mountpoint) => {
        const path = `${mountpoint}/000000/a.npy`;
        const { size } = await Deno.stat(path);
        const bytes = await Deno.readFile(path);
        assert.equal(size, bytes.length);
        assert.deepEqual(readNpy(bytes).data, values);
      });
    }),
});

Deno.test({
  name:
    "undamaged data of damaged shards is mounted; the rest is EIO, or skipped",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      for (const shard of [0, 1, 2]) {
        const path = `${dir}/data/${numberName(shard)}`;
        const datapoint = { a: utf8(`a${shard}`), b: utf8(`b${shard}`) };
        writeDataset(path, { a: "utf8", b: "utf8" }, [datapoint], 2);
      }
      fs.truncateSync(`${dir}/data/000000/refs.bag`, 3);
      fs.truncateSync(`${dir}/data/000001/b.bag`, 3);
      await mounted(`${dir}/data`, ["--decoded"], async (mountpoint) => {
        const listed = await succeed("ls", mountpoint);
        assert.equal(listed, "000001\n000002\n");
        const names = await succeed("ls", "-U", `${mountpoint}/000001/000000`);
        assert.deepEqual(names.trim().split("\n").sort(), ["a", "a.txt", "b"]);
        const read = await succeed(
          "sh",
          "-c",
          'cat "$0"/000001/000000/a "$0"/000002/000000/[ab]',
          mountpoint,
        );
        assert.equal(read, "a1a2b2");
        const lost = await run(["cat", `${mountpoint}/000001/000000/b`]);
        assert.equal(lost.code, 1);
        assert.match(lost.stderr, /Input\/output error/);
        const left = await run(["ls", `${mountpoint}/000000`]);
        assert.match(left.stderr, /No such file/);
      });
    }),
});

/** Writes shards of 20 keys, 40 files each, whose values name their shard and key. */
function writeShards(dir: string): void {
  const keys = Array.from({ length: KEYS }, (_, k) => `key ${numberName(k)}`);
  const spec = Object.fromEntries(keys.map((key) => [key, "utf8"]));
  for (let shard = 0; shard < SHARDS; shard++) {
    const datapoint: Records = Object.fromEntries(
      keys.map((key) => [key, utf8(`${shard} ${key}\n`)]),
    );
    const path = `${dir}/${numberName(shard)}`;
    writeDataset(path, spec, [datapoint], 3);
  }
}

Deno.test({
  name: `${SHARDS} mounted shards of 20 keys are read with 256 descriptors`,
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      writeShards(`${dir}/data`);
      await mounted(`${dir}/data`, [], async (mountpoint) => {
        const cat = 'cat "$0"/*/000000/key*[05]';
        const printed = await succeed("sh", "-c", cat, mountpoint);
        const expected = Array.from({ length: SHARDS }, (_, shard) =>
          READ_KEYS.map((key) =>
            `${shard} key ${numberName(key)}\n`
          )).flat();
        assert.equal(printed, expected.join(""));
      });
    }),
});

/** Writes millions of datapoints with one key, each an 8-byte integer. All datapoints have the same references. */
async function writeMany(dir: string, generation: 2 | 3): Promise<void> {
  await Deno.mkdir(dir);
  await Deno.writeTextFile(`${dir}/spec.json`, '{"n": "u64"}');
  const ascending = (step: number) => {
    const words = new Uint32Array(2 * MANY);
    for (let i = 0; i < MANY; i++) words[2 * i] = (i + 1) * step;
    return new Uint8Array(words.buffer);
  };
  const append = { append: true };
  const records = ascending(1);
  await Deno.writeFile(`${dir}/n.bag`, records);
  const index = ascending(8);
  if (generation === 3) return await Deno.writeFile(`${dir}/n.idx`, index);
  await Deno.writeFile(`${dir}/n.bag`, index, append);
  const one = packReferences([MANY]).length;
  const refs = new Uint8Array(one * MANY);
  for (let i = 0; i < MANY; i++) {
    const at = i * one;
    refs[at] = 0xdc;
    refs[at + 2] = 1;
    refs[at + 3] = 0xce;
    for (let b = 0; b < 4; b++) refs[at + 4 + b] = i >>> 24 - 8 * b;
  }
  await Deno.writeFile(`${dir}/refs.bag`, refs);
  await Deno.writeFile(`${dir}/refs.bag`, ascending(one), append);
}

for (const generation of FULL ? [2, 3] as const : [2] as const) {
  Deno.test({
    name:
      `${MANY} datapoints of generation ${generation} are mounted without being read`,
    ...needs("fuse"),
    fn: () =>
      withMountPlace(async ({ dir }) => {
        await writeMany(`${dir}/data`, generation);
        await mounted(`${dir}/data`, [], async (mountpoint, server) => {
          const view = new DataView(new ArrayBuffer(8));
          for (let i = 0; i < 2000; i++) {
            const number = i * 7_654_321 % MANY;
            view.setBigUint64(0, BigInt(number + 1), true);
            const name = String(number).padStart(7, "0");
            const path = `${mountpoint}/${name}/n`;
            assert.equal(
              fs.readFileSync(path).toString("hex"),
              new Uint8Array(view.buffer).toHex(),
            );
          }
          const status = await Deno.readTextFile(`/proc/${server}/status`);
          const [, anonymous] = /RssAnon:\s+(\d+) kB/.exec(status)!;
          assert.ok(Number(anonymous) < MOST_KB, `${anonymous} kB`);
          // `ls` ends after seven names: listing all, as opendirSync does, takes too long.
          const list = 'ls -f "$0" | head -n 7';
          const first = await succeed("sh", "-c", list, mountpoint);
          assert.equal(
            first,
            ".\n..\nspec.json\n0000000\n0000001\n0000002\n0000003\n",
          );
          assert.throws(() => fs.statSync(`${mountpoint}/${MANY}`), {
            code: "ENOENT",
          });
        });
      }),
  });
}

Deno.test({
  name: "appends to a mounted dataset do not disturb the mount",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      const data = `${dir}/data`;
      const records = (i: number) => ({ a: utf8(`a${i}`), b: utf8(`b${i}`) });
      const spec = { a: "utf8", b: "utf8" };
      writeDataset(data, spec, [0, 1, 2].map(records), 3);
      await mounted(data, [], async (mountpoint) => {
        const append = { append: true };
        for (let i = 3; i < 1000; i++) {
          for (const [key, bytes] of Object.entries(records(i))) {
            await Deno.writeFile(`${data}/${key}.bag`, bytes, append);
            const { size } = await Deno.stat(`${data}/${key}.bag`);
            await Deno.writeFile(`${data}/${key}.idx`, u64s([size]), append);
          }
        }
        const list = 'cat "$0"/*/b; ls "$0"';
        const printed = await succeed("sh", "-c", list, mountpoint);
        assert.equal(printed, "b0b1b2000000\n000001\n000002\nspec.json\n");
      });
      await mounted(data, [], async (mountpoint) => {
        const last = await Deno.readTextFile(`${mountpoint}/000999/b`);
        assert.equal(last, "b999");
      });
    }),
});

Deno.test({
  name:
    "a bag that is truncated under a mount is an error there, and nowhere else",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir }) => {
      const data = `${dir}/data`;
      const large = new Uint8Array(100_000).fill(7);
      const datapoint = { a: large, b: utf8("b") };
      const spec = { a: "bytes", b: "utf8" };
      writeDataset(data, spec, Array(20).fill(datapoint), 3);
      await mounted(data, [], async (mountpoint) => {
        assert.equal(
          sha256(fs.readFileSync(`${mountpoint}/000019/a`)),
          sha256(large),
        );
        await Deno.truncate(`${data}/a.bag`, 4096);
        for (const i of [10, 15, 18]) {
          const directory = `${mountpoint}/${numberName(i)}`;
          assert.throws(() => fs.readFileSync(`${directory}/a`), {
            code: "EIO",
          });
          assert.equal(fs.readFileSync(`${directory}/b`, "utf8"), "b");
        }
      });
    }),
});
