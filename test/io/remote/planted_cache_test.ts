/**
 * Files planted by others in place of a cache's files: nothing outside is touched, nothing is trusted or waited for.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { basename, dirname } from "node:path";
import { open } from "../../../mod.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  makeDirectory,
  withCachePlace,
} from "../../support/remote/cached_samples.ts";
import { FileServer } from "../../support/remote/file_server.ts";
import { plantings, Victim } from "../../support/remote/planted_entries.ts";
import { tarBytes } from "../../support/tar/make_tar.ts";

/** Debian's `nobody`. */
const OTHER = 65534;

/** Returns the open files of this process below a directory. */
function openBelow(directory: string): string[] {
  return fs.readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = fs.readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(`${directory}/`) ? [path] : [];
    } catch {
      return []; // the descriptor of the listing itself
    }
  });
}

Deno.test("whatever is planted in place of a cache's file or directory is not touched, and nothing waits for it", async () => {
  await withCachePlace(async ({ dir, read }) => {
    // Anyone can predict the names.
    await read(`${dir}/clean`);
    const names = ["lists"].concat(
      fs.readdirSync(`${dir}/clean`, { recursive: true }) as string[],
    );
    assert.ok(names.length > 7, `${names}`);
    const victim = new Victim(`${dir}/victim`);
    for (const shared of [false, true]) {
      for (const name of names) {
        for (const [what, plant] of Object.entries(plantings)) {
          const cache = `${dir}/cache`;
          fs.mkdirSync(dirname(`${cache}/${name}`), {
            recursive: true,
            mode: 0o700,
          });
          plant(`${cache}/${name}`, victim);
          const warnings = await read(cache, shared);
          const label = `${what} at ${name}, ${shared ? "shared" : "own"}`;
          assert.ok(warnings.length <= 1, `${label}: ${warnings.join("\n")}`);
          for (const warning of warnings) {
            assert.match(warning, /`cache\.shared`/, label);
          }
          victim.assertUntouched(label);
          assert.deepEqual(openBelow(cache), [], label);
          fs.rmSync(cache, { recursive: true });
        }
      }
    }
  });
});

Deno.test({
  name: "files of another user in an own directory are not trusted",
  ...needs("root"),
  fn: () =>
    withCachePlace(async ({ dir, server, read }) => {
      const cache = `${dir}/c`;
      await read(cache);
      const [data] = fs.globSync(`${cache}/objects/*/*/data`);
      const wrong = fs.readFileSync(data!).fill(7);
      for (
        const path of [
          `${cache}/objects`,
          dirname(dirname(data!)),
          dirname(data!),
          data!,
          `${dirname(data!)}/facts.json`,
        ]
      ) {
        fs.chownSync(path, OTHER, OTHER);
        if (path === data) fs.writeFileSync(data, wrong);
        server.asked.length = 0;
        const [warning, ...others] = await read(cache);
        assert.match(
          warning!,
          new RegExp(`${basename(path)} belongs to user 65534`),
        );
        assert.deepEqual(others, []);
        assert.ok(server.asked.length > 1);
        fs.chownSync(path, 0, 0);
      }
    }),
});

Deno.test("facts that are invalid, or of another size than the data, are rebuilt", async () => {
  await withCachePlace(async ({ dir, read }) => {
    const cache = `${dir}/c`;
    await read(cache);
    const [path] = fs.globSync(`${cache}/objects/*/*/facts.json`);
    const facts = JSON.parse(fs.readFileSync(path!, "utf8"));
    for (
      const text of [
        "null",
        "[]",
        "{",
        JSON.stringify({ ...facts, size: -1 }),
        JSON.stringify({ ...facts, size: 2 ** 52 }),
        JSON.stringify({ ...facts, size: facts.size - 1 }),
      ]
    ) {
      fs.writeFileSync(path!, text);
      assert.deepEqual(await read(cache), [], text);
    }
    fs.truncateSync(path!, 2 ** 40); // larger than any read
    assert.deepEqual(await read(cache), []);
  });
});

Deno.test("blocks whose file was truncated or removed are fetched again, also by formats without checksums", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    const data = new Uint8Array(50_000).map((_, i) => i % 251);
    fs.writeFileSync(`${dir}/www/a.tar`, tarBytes([{ name: "a", data }]));
    await using server = await FileServer.start(`${dir}/www`);
    const read = async () => {
      const remote = { cache: { directory: `${dir}/c` } };
      using container = await open(`${server.url}/a.tar`, { remote });
      assert.deepEqual(await container.read("a"), data);
    };
    await read();
    for (const change of [fs.truncateSync, fs.rmSync]) {
      change(fs.globSync(`${dir}/c/objects/*/*/data`)[0]!);
      await read();
    }
  });
});

Deno.test("the index of a large tar is not cached where others can write, with one warning", async () => {
  await withTempDir(async (dir) => {
    fs.chmodSync(dir, 0o755);
    const count = 33_000;
    const members = Array.from({ length: count }, (_, i) => ({ name: `${i}` }));
    fs.writeFileSync(`${dir}/a.tar`, tarBytes(members));
    const read = async (directory: string) => {
      const warnings: string[] = [];
      const onWarning = (text: string) => warnings.push(text);
      const remote = { cache: { directory }, onWarning };
      using container = await open(`${dir}/a.tar`, { remote });
      assert.equal((await container.list("")).length, count);
      return warnings;
    };
    const cache = makeDirectory(`${dir}/c`, 0o777);
    const [warning, ...others] = await read(cache);
    assert.match(warning!, /can be written by everybody.*`cache\.shared`/);
    assert.deepEqual(others, []);
    assert.deepEqual(fs.readdirSync(cache), []);
    // Anything planted in its place is left alone.
    await read(`${dir}/clean`);
    const [name] = fs.readdirSync(`${dir}/clean/indexes`);
    const victim = new Victim(`${dir}/victim`);
    for (const path of ["indexes", `indexes/${name}`]) {
      for (const what of ["a link to a file", "a hard link", "a pipe"]) {
        const planted = `${dir}/planted/${path}`;
        fs.mkdirSync(dirname(planted), { recursive: true, mode: 0o700 });
        plantings[what]!(planted, victim);
        assert.ok((await read(`${dir}/planted`)).length <= 1, what);
        victim.assertUntouched(`${what} at ${path}`);
        fs.rmSync(`${dir}/planted`, { recursive: true });
      }
    }
  });
});
