import assert from "node:assert/strict";
import { ExtractTarget } from "../../../src/io/unpack/extract_target.ts";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { run, succeed } from "../../cli/run_cli.ts";

const options = {
  replace: false,
  mtime: new Date(1_600_000_000_000),
  sync: "none",
} as const;
const bytes = new TextEncoder().encode("content");

async function names(directory: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(directory)))
    .map(({ name }) => name).sort();
}

Deno.test("a directory that is swapped for a link is not followed", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/outside`);
    using target = new ExtractTarget(`${dir}/out`, options);
    target.write("a/b/one", bytes);
    await Deno.rename(`${dir}/out/a/b`, `${dir}/moved`);
    await Deno.symlink(`${dir}/outside`, `${dir}/out/a/b`);
    // Writes still go to the directory that was opened.
    target.write("a/b/two", bytes);
    assert.deepEqual(await names(`${dir}/moved`), ["one", "two"]);
    // When it is entered again, the link is detected.
    target.write("c", bytes);
    assert.throws(() => target.write("a/b/three", bytes), {
      code: "in-the-way",
      message: /out\/a\/b: it is a symbolic link/,
    });
    assert.deepEqual(await names(`${dir}/outside`), []);
    assert.deepEqual(await names(`${dir}/out`), ["a", "c"]);
  });
});

Deno.test("leftovers of killed extractions are removed, output of running ones stays", async () => {
  await withTempDir(async (dir) => {
    const child = new Deno.Command("true").spawn();
    await child.status;
    const dead = `.recordfs-${child.pid}-1.part`;
    const alive = `.recordfs-${Deno.pid}-1000000.part`;
    const another = `.a.recordfs-${child.pid}-1.part`; // left by a writer, which has file locks of its own
    for (const place of [`${dir}/out`, `${dir}/out/a`, `${dir}/out/b`]) {
      await Deno.mkdir(place);
      for (const name of [dead, alive, another]) {
        await Deno.writeTextFile(`${place}/${name}`, "half");
      }
    }
    using target = new ExtractTarget(`${dir}/out`, options);
    target.write("a/one", bytes);
    target.write("two", bytes);
    const stay = [another, alive].sort();
    assert.deepEqual(await names(`${dir}/out/a`), [...stay, "one"]);
    assert.deepEqual(await names(`${dir}/out`), [...stay, "a", "b", "two"]);
    assert.ok((await names(`${dir}/out/b`)).includes(dead)); // not visited
  });
});

Deno.test("a parent directory that is swapped is not returned to", async () => {
  await withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/outside`);
    const below = Array.from({ length: 50 }, (_, i) => `${i}`).join("/");
    using target = new ExtractTarget(`${dir}/out`, options);
    target.write(`a/${below}/one`, bytes);
    await Deno.rename(`${dir}/out/a`, `${dir}/moved`);
    await Deno.symlink(`${dir}/outside`, `${dir}/out/a`);
    assert.throws(() => target.write("a/two", bytes), {
      code: "ENOTDIR",
      message: /Cannot extract to .*out\/a\/two: /,
    });
    target.write("three", bytes);
    assert.deepEqual(await names(`${dir}/outside`), []);
    assert.deepEqual(await names(`${dir}/out`), ["a", "three"]);
  });
});

Deno.test("another kind of entry in place of a directory is named", async () => {
  await withTempDir(async (dir) => {
    using target = new ExtractTarget(dir, options);
    target.write("file", bytes);
    assert.throws(() => target.write("file/below", bytes), {
      code: "in-the-way",
      message: /\/file: it is not a directory/,
    });
    target.makeDirectory("made/twice");
    target.makeDirectory("made/twice");
    assert.deepEqual(await names(dir), ["file", "made"]);
    const { mtime } = await Deno.stat(`${dir}/file`);
    assert.deepEqual(mtime, options.mtime);
  });
});

Deno.test("extract writes 1,000 levels, deeper than a path allows", async () => {
  const levels = 1000;
  let folder: Folder = { bottom: bytes };
  for (let level = levels; level > 0; level--) {
    folder = { [`level ${level}`]: folder, file: bytes };
  }
  await withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packedSamples(folder)));
    await succeed(["extract", `${dir}/a.ffr`, `${dir}/out`]);
    const { stdout } = await run(
      ["find", `${dir}/out`, "-mindepth", "1", "-printf", "%d %f %y %s\\n"],
    );
    const found = stdout.trimEnd().split("\n")
      .map((line) => line.replace(/ d \d+$/, " d")).sort();
    const expected = [`${levels + 1} bottom f 7`];
    for (let level = 1; level <= levels; level++) {
      expected.push(`${level} level ${level} d`, `${level} file f 7`);
    }
    assert.deepEqual(found, expected.sort());
  });
});
