/** Containers of extreme shapes: very wide, very deep, with very many parts. */
import assert from "node:assert/strict";
import { open } from "../../mod.ts";
import { PackedFolder } from "../../src/formats/ffrecord/mod.ts";
import { CLI, type Ran, recordfs, run } from "../cli/run_cli.ts";
import { withMountPlace } from "../cli/mount/mount_place.ts";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../support/ffrecord/make_ffr.ts";
import { LONG } from "../support/long.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

const text = (value: string) => new TextEncoder().encode(value);

/** Number of entries of the wide directory. */
const WIDE = LONG ? 100_000 : 30_000;
/** Index of one of them. */
const MIDDLE = 24_321;
/** Depth of nested directories. */
const DEEP = 1000;
/** Number of parts, and the descriptor limit for reading them. */
const PARTS = LONG ? 1000 : 300;
const DESCRIPTORS = 256;

function succeeded({ code, stdout, stderr }: Ran): string {
  assert.deepEqual([stderr, code], ["", 0]);
  return stdout;
}

/** Mounts a container file while `body` runs. */
function mounted(
  bytes: Uint8Array,
  body: (mountpoint: string) => Promise<void>,
): Promise<void> {
  return withMountPlace(async (place) => {
    const file = `${place.dir}/a.ffr`;
    await Deno.writeFile(file, bytes);
    succeeded(await place.recordfs("mount", file, place.mountpoint));
    await body(place.mountpoint);
    succeeded(await place.recordfs("unmount", place.mountpoint));
  });
}

function wideFolder(): Folder {
  const entries = Array.from(
    { length: WIDE },
    (_, i) => [`file ${i}.txt`, text(String(i % 1000))] as const,
  );
  return { wide: Object.fromEntries(entries) };
}

/** Builds `leaf` under 1,000 directories. Its path is longer than any system call accepts. */
function deepFolder(): { folder: Folder; path: string } {
  let folder: Folder = { leaf: text("at the bottom") };
  const names: string[] = [];
  for (let depth = DEEP - 1; depth >= 0; depth--) {
    const name = `directory ${depth}`;
    names.unshift(name);
    folder = { [name]: folder };
  }
  return { folder, path: [...names, "leaf"].join("/") };
}

Deno.test("a directory of very many entries is listed, walked and looked up", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packedSamples(wideFolder())));
    using folder = await PackedFolder.open(`${dir}/a.ffr`);
    assert.equal(folder.list("wide").length, WIDE);
    using fs = await open(`${dir}/a.ffr`);
    assert.equal(new Set(await fs.list("wide")).size, WIDE);
    let walked = 0;
    for await (const { isFile } of fs.walk()) walked += Number(isFile);
    assert.equal(walked, WIDE);
    const paths = [0, 1, MIDDLE, WIDE - 1].map((i) => `wide/file ${i}.txt`);
    const contents = (await fs.read(paths)).map((bytes) =>
      new TextDecoder().decode(bytes)
    );
    assert.deepEqual(contents, ["0", "1", String(MIDDLE % 1000), "999"]);
  });
});

Deno.test({
  name: "a mounted directory of very many entries is listed and looked up",
  ...needs("fuse"),
  fn: () =>
    mounted(ffrBytes(packedSamples(wideFolder())), async (mountpoint) => {
      const script =
        `cat "$0/wide/file ${MIDDLE}.txt"; echo; find "$0" -type f`;
      const lines = succeeded(await run(["sh", "-c", script, mountpoint]))
        .trimEnd().split("\n");
      assert.equal(lines[0], String(MIDDLE % 1000));
      assert.equal(new Set(lines.slice(1)).size, WIDE);
    }),
});

Deno.test("1,000 levels are listed, walked and read", async () => {
  await withTempDir(async (dir) => {
    const { folder, path } = deepFolder();
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packedSamples(folder)));
    using packed = await PackedFolder.open(`${dir}/a.ffr`);
    const all = packed.list("", { recursive: true });
    assert.equal(all.length, DEEP + 1);
    assert.equal(all.at(-1), path);
    using fs = await open(`${dir}/a.ffr`);
    const walked = await Array.fromAsync(fs.walk(), ({ path }) => path);
    assert.deepEqual(walked, all);
    const bytes = await fs.read(path);
    assert.equal(new TextDecoder().decode(bytes), "at the bottom");
  });
});

Deno.test({
  name: "1,000 mounted levels are walked, and entered one by one",
  ...needs("fuse", "python3"),
  fn: () =>
    mounted(
      ffrBytes(packedSamples(deepFolder().folder)),
      async (mountpoint) => {
        const find = ["find", mountpoint, "-printf", "%d %s %f\n"];
        const lines = succeeded(await run(find)).trimEnd().split("\n");
        assert.equal(lines.length, 1 + DEEP + 1);
        assert.equal(lines.at(-1), `${DEEP + 1} 13 leaf`);
        const script = `
import os, sys
os.chdir(sys.argv[1])
for depth in range(${DEEP}):
    os.chdir(f"directory {depth}")
print(open("leaf").read(), end="")`;
        const python = await run([PYTHON, "-c", script, mountpoint]);
        assert.equal(succeeded(python), "at the bottom");
      },
    ),
});

/** Writes a directory of parts with three samples each, which contain their index. */
async function makeParts(dir: string): Promise<void> {
  await Deno.mkdir(dir);
  for (let part = 0; part < PARTS; part++) {
    const samples = [0, 1, 2].map((i) => text(String(3 * part + i)));
    const name = `PART_${String(part).padStart(5, "0")}.ffr`;
    await Deno.writeFile(`${dir}/${name}`, ffrBytes(samples));
  }
}

/** Returns a command line that limits the number of open descriptors. */
function limited(...command: string[]): string[] {
  return ["sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh", ...command];
}

Deno.test("more parts than descriptors are read", async () => {
  await withTempDir(async (dir) => {
    const parts = `${dir}/parts`;
    await makeParts(parts);
    const count = 3 * PARTS;
    const script = `${dir}/read.ts`;
    await Deno.writeTextFile(
      script,
      `import { open } from ${JSON.stringify(`${REPOSITORY}mod.ts`)};
       import { FFRecordReader } from ${
        JSON.stringify(`${REPOSITORY}src/formats/ffrecord/mod.ts`)
      };
       const indices = Array.from({ length: ${count} }, (_, i) => i * 7919 % ${count});
       using reader = await FFRecordReader.open(Deno.args[0]);
       using fs = await open(Deno.args[0]);
       const names = indices.map((i) => String(i).padStart(6, "0"));
       for (const batch of [
         await reader.read(indices), reader.readSync(indices), await fs.read(names),
       ]) console.log(batch.map((bytes) => new TextDecoder().decode(bytes)).join());`,
    );
    const api = await run(limited(Deno.execPath(), "run", "-R", script, parts));
    const numbers = Array.from({ length: count }, (_, i) => i * 7919 % count);
    assert.equal(succeeded(api), `${numbers.join()}\n`.repeat(3));
    const cli = [Deno.execPath(), "run", "-A", CLI];
    const checked = succeeded(await run(limited(...cli, "check", parts)));
    assert.match(checked, new RegExp(`${3 * PARTS} samples, .*all sound`));
  });
});

Deno.test({
  name: "more parts than descriptors are mounted",
  ...needs("fuse"),
  fn: () =>
    withMountPlace(async ({ dir, mountpoint, env }) => {
      const parts = `${dir}/parts`;
      await makeParts(parts);
      const cli = [Deno.execPath(), "run", "-A", CLI, "mount"];
      const mount = limited(...cli, parts, mountpoint);
      succeeded(await run(mount, { env }));
      const cat = await run(["sh", "-c", 'cat "$0"/*', mountpoint]);
      const numbers = Array.from({ length: 3 * PARTS }, (_, i) => i);
      assert.equal(succeeded(cat), numbers.join(""));
      succeeded(await recordfs(["unmount", mountpoint], { env }));
    }),
});
