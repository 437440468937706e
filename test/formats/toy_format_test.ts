/** A container format that is unknown before it is registered supports everything that others do. */
import assert from "node:assert/strict";
import { RecordfsError } from "../../src/base/errors.ts";
import { formatNames, registerFormat } from "../../src/formats/registry.ts";
import { open } from "../../src/open/open.ts";
import { openSync } from "../../src/open/mod.ts";
import { bothAlive, record } from "../mount/numbers_mount.ts";
import { isRunning, until, withMountPlace } from "../cli/mount/mount_place.ts";
import { recordfs, succeed } from "../cli/run_cli.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { toyBytes } from "../support/toy_format/write_toy.ts";

const MODULE = "test/support/toy_format/toy_format.ts";
const URL_OF_IT = new URL(`file://${REPOSITORY}${MODULE}`);
const GIVEN = ["--format-module", `${REPOSITORY}${MODULE}`];

const FILES = Array.from({ length: 40 }, (_, i) => ({
  name: `sample ${i}.txt`,
  label: i % 4 === 0 ? "rare" : "common",
  bytes: new TextEncoder().encode(`content of ${i}`),
}));

/** Runs `body` with a toy container on disk. */
async function withToy(body: (toy: string, dir: string) => Promise<void>) {
  await withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/box.toy`, toyBytes(FILES));
    await body(`${dir}/box.toy`, dir);
  });
}

Deno.test("an unregistered format is unknown", async () => {
  await withToy(async (toy) => {
    const { code, stderr } = await recordfs(["ls", toy]);
    assert.equal(code, 1);
    assert.match(stderr, /its format is unknown/);
    assert.match(
      (await recordfs(["ls", "--format", "toy", toy])).stderr,
      /toy/,
    );
  });
});

Deno.test("modules that export no format, and names that are taken, are rejected", async () => {
  const exporting = (code: string) =>
    `data:text/javascript,${encodeURIComponent(code)}`;
  const refused = async (url: string, why: RegExp) => {
    await assert.rejects(registerFormat(url), (error) => {
      assert.ok(error instanceof RecordfsError);
      assert.deepEqual([error.code, error.path], ["bad-format", url]);
      assert.match(error.message, why);
      return true;
    });
  };
  await refused(exporting("export const format = 1;"), /exports no `format`/);
  await refused(exporting("throw new Error('not today')"), /not today/);
  await refused("file:///nowhere.ts", /cannot be loaded/);
  const gulp = "{ name: 'gulp', suffixes: [], detect() {}, load() {} }";
  await refused(exporting(`export const format = ${gulp};`), /'gulp' already/);
  const { code, stderr } = await recordfs(
    ["ls", "--format-module", `${REPOSITORY}test/golden`, "x"],
  );
  assert.equal(code, 1);
  assert.match(stderr, /Cannot register the format of the module file:/);
});

Deno.test("a format is registered once, however often it is requested", async () => {
  await registerFormat(URL_OF_IT);
  await registerFormat(URL_OF_IT.href);
  assert.equal(formatNames().filter((name) => name === "toy").length, 1);
  const bytes = toyBytes(FILES);
  for (const source of [bytes, new Blob([bytes])]) {
    using fs = await open(source);
    assert.deepEqual(await fs.read("sample 7.txt"), FILES[7]!.bytes);
  }
  assert.throws(() => openSync(new Blob([bytes])), { code: "must-wait" });
});

Deno.test("the command lists, extracts, checks, converts and splits it", async () => {
  await withToy(async (toy, dir) => {
    const lines = async (...args: string[]) =>
      (await succeed([...args.slice(0, 1), ...GIVEN, ...args.slice(1)])).stdout
        .trimEnd().split("\n");
    const names = FILES.map(({ name }) => name);
    assert.deepEqual(await lines("ls", toy), names);
    assert.deepEqual(await lines("ls", "--format", "toy", toy), names);
    assert.match((await lines("info", toy)).join("\n"), /format: toy/);
    assert.deepEqual(await lines("cat", toy, names[3]!), ["content of 3"]);
    assert.match((await lines("check", toy))[0]!, /40 samples.*all sound/);
    await lines("extract", toy, `${dir}/out`);
    const read = (path: string) => Deno.readTextFile(`${dir}/out/${path}`);
    assert.equal(await read(names[39]!), "content of 39");

    const converted = await recordfs(
      ["convert", ...GIVEN, toy, `${dir}/packed.ffr`],
    );
    assert.equal(converted.code, 0, converted.stderr);
    using packed = await open(`${dir}/packed.ffr`);
    assert.deepEqual((await packed.list()).sort(), names.toSorted());
    assert.deepEqual(await packed.read(names[5]!), FILES[5]!.bytes);

    const ratios = ["--ratios", "0.5,0.5", "--out", `${dir}/splits`];
    await lines("split", toy, ...ratios, "--stratify", "label");
    for (const half of ["train", "val"]) {
      const text = await Deno.readTextFile(`${dir}/splits/${half}.txt`);
      const indices = text.split("\n").filter((line) => /^\d/.test(line));
      assert.equal(indices.length, 20);
      const rare = indices.filter((i) => FILES[Number(i)]!.label === "rare");
      assert.equal(rare.length, 5);
    }
    const bench = ["--workers", "2", "--batches", "2", "--json"];
    const loaded = JSON.parse(
      (await lines("bench-loader", toy, ...bench)).join("\n"),
    );
    assert.deepEqual([loaded.unit, loaded.length], ["samples", 40]);
  });
});

Deno.test({
  name:
    "a mount in the background survives its server, and another one takes over",
  ...needs("fuse", "python3"),
  fn: () =>
    withMountPlace(async (place) => {
      const toy = `${place.dir}/box.toy`;
      await Deno.writeFile(toy, toyBytes(FILES));
      const { stderr, code } = await place.recordfs(
        ...["mount", ...GIVEN, "--workers", "2", toy, place.mountpoint],
      );
      assert.deepEqual([stderr, code], ["", 0]);
      const read = (i: number) =>
        Deno.readTextFile(`${place.mountpoint}/sample ${i}.txt`);
      assert.equal(await read(1), "content of 1");
      await until(async () => (await record(place)).supervised.resumable);
      const { server } = await bothAlive(place);
      Deno.kill(server, "SIGKILL");
      await until(async () => !await isRunning(server));
      assert.equal(await read(2), "content of 2");
      await bothAlive(place);
      const option = `format_module=${REPOSITORY}${MODULE}`; // as in /etc/fstab
      const replaced = await place.recordfs(
        ...["mount", "-o", option, "--replace", toy, place.mountpoint],
      );
      assert.deepEqual([replaced.stderr, replaced.code], ["", 0]);
      assert.equal(await read(3), "content of 3");
      const unmounted = await place.recordfs("unmount", place.mountpoint);
      assert.equal(unmounted.code, 0);
    }),
});
