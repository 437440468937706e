/** Cache directories that others can write to are not used, unless a group is trusted. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { run } from "../../cli/run_cli.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import {
  makeDirectory,
  withCachePlace,
} from "../../support/remote/cached_samples.ts";
import { Victim } from "../../support/remote/planted_entries.ts";

/** Debian's `nobody`. */
const OTHER = 65534;
/** A group without members. */
const GROUP = 12_345;

/** Lists everything below a directory, with owners. */
function treeOf(path: string): string[] {
  const names = fs.readdirSync(path, { recursive: true }) as string[];
  return ["", ...names].sort().map((name) => {
    const { mode, uid, gid, ino } = fs.lstatSync(`${path}/${name}`);
    return [name, mode.toString(8), uid, gid, ino].join(" ");
  });
}

interface Refused {
  readonly prepare: (dir: string) => string;
  readonly reason: RegExp;
  readonly needsRoot?: boolean;
  /** Whether it is rejected even if the cache is shared. */
  readonly always?: boolean;
}

const refused: Record<string, Refused> = {
  "that everybody can write to": {
    prepare: (dir) => makeDirectory(`${dir}/c`, 0o777),
    reason: /can be written by everybody/,
    always: true,
  },
  "that everybody can write to, with the sticky bit": {
    prepare: (dir) => makeDirectory(`${dir}/c`, 0o1777),
    reason: /can be written by everybody/,
    always: true,
  },
  "that its group can write to": {
    prepare: (dir) => makeDirectory(`${dir}/c`, 0o2775),
    reason: /can be written by its group/,
  },
  "below one that everybody can write to": {
    prepare: (dir) =>
      makeDirectory(`${makeDirectory(`${dir}/above`, 0o777)}/c`, 0o700),
    reason: /above can be written by everybody/,
    always: true,
  },
  "that is missing below one that a group can write to": {
    prepare: (dir) => `${makeDirectory(`${dir}/above`, 0o775)}/c`,
    reason: /above can be written by its group/,
  },
  "of another user": {
    prepare(dir) {
      const path = makeDirectory(`${dir}/c`, 0o755);
      fs.chownSync(path, OTHER, OTHER);
      return path;
    },
    reason: /belongs to user 65534/,
    needsRoot: true,
  },
  "below one of another user": {
    prepare(dir) {
      const above = makeDirectory(`${dir}/above`, 0o755);
      const path = makeDirectory(`${above}/c`, 0o700);
      fs.chownSync(above, OTHER, OTHER);
      return path;
    },
    reason: /above belongs to user 65534/,
    needsRoot: true,
  },
  "that a link of another user leads to, among those of everybody": {
    prepare(dir) {
      const own = makeDirectory(`${dir}/own`, 0o700);
      const link = `${makeDirectory(`${dir}/tmp`, 0o1777)}/c`;
      fs.symlinkSync(own, link);
      fs.lchownSync(link, OTHER, OTHER);
      return link;
    },
    reason: /tmp\/c is a symbolic link of user 65534/,
    needsRoot: true,
    always: true,
  },
  "of another user and group, among those of everybody": {
    prepare(dir) {
      const path = `${makeDirectory(`${dir}/tmp`, 0o1777)}/c`;
      makeDirectory(path, 0o775);
      fs.chownSync(path, OTHER, GROUP);
      return path;
    },
    reason: /tmp\/c belongs to user 65534/,
    needsRoot: true,
    always: true,
  },
};

for (
  const [what, { prepare, reason, needsRoot, always }] of Object.entries(
    refused,
  )
) {
  Deno.test({
    name: `a cache in a directory ${what} is not used, with one warning`,
    ...needsRoot ? needs("root") : {},
    fn: () =>
      withCachePlace(async ({ dir, read }) => {
        const directory = prepare(dir);
        const before = treeOf(dir);
        for (const shared of always ? [false, true] : [false]) {
          const [warning, ...others] = await read(directory, shared);
          assert.deepEqual(others, []);
          assert.match(warning!, reason);
          assert.match(
            warning!,
            /^Cannot use the cache .*: .*`cache\.shared`/,
          );
          assert.deepEqual(treeOf(dir), before);
        }
      }),
  });
}

Deno.test("a user's own directory is used with its permissions, also through own links and below sticky directories", async () => {
  await withCachePlace(async ({ dir, server, read }) => {
    const tmp = makeDirectory(`${dir}/tmp`, 0o1777);
    const own = makeDirectory(`${tmp}/own`, 0o755);
    fs.symlinkSync("../tmp/./own", `${tmp}/link`);
    assert.deepEqual(await read(`${tmp}/link`), []);
    assert.equal(fs.statSync(own).mode & 0o7777, 0o755);
    const { length } = server.asked;
    assert.deepEqual(await read(own), []);
    assert.equal(server.asked.length, length + 1); // the revalidation
  });
});

Deno.test({
  name:
    "members of a trusted group share a cache, and all of them can write to it",
  ...needs("root"),
  fn: () =>
    withCachePlace(async ({ dir, server, read }) => {
      const cache = makeDirectory(`${dir}/c`, 0o2775);
      fs.chownSync(cache, 0, GROUP); // clears the setgid bit
      fs.chmodSync(cache, 0o2775);
      assert.deepEqual(await read(cache, true), []);
      const paths = fs.readdirSync(cache, { recursive: true }) as string[];
      assert.ok(paths.length > 5);
      for (const path of paths) {
        const stat = fs.lstatSync(`${cache}/${path}`);
        const mode = stat.isDirectory() ? 0o2770 : 0o660;
        assert.deepEqual([stat.mode & 0o7777, stat.gid], [mode, GROUP], path);
        fs.chownSync(`${cache}/${path}`, OTHER, GROUP); // as if another member had created it
        fs.chmodSync(`${cache}/${path}`, mode);
      }
      fs.chownSync(cache, OTHER, GROUP);
      fs.chmodSync(cache, 0o2775);
      server.asked.length = 0;
      assert.deepEqual(await read(cache, true), []);
      assert.equal(server.asked.length, 1); // the revalidation
      // Now owned by someone outside of the group.
      const [data] = fs.globSync(`${cache}/objects/*/*/data`);
      fs.chownSync(data!, 1234, 1234);
      const [warning] = await read(cache, true);
      assert.match(warning!, /data belongs to user 1234/);
    }),
});

Deno.test("changes by a member of the group are compared with the container's checksums", async () => {
  await withCachePlace(async ({ dir, read }) => {
    const cache = makeDirectory(`${dir}/c`, 0o770);
    await read(cache, true);
    const [data] = fs.globSync(`${cache}/objects/*/*/data`);
    const bytes = fs.readFileSync(data!);
    fs.writeFileSync(data!, bytes.fill(0x55, 150_000, 150_100));
    assert.deepEqual(await read(cache, true), []); // and everything is correct
  });
});

/** Program that reads the first sample of a URL with a cache, and prints its warnings. */
function program(
  url: string,
  cache: string | undefined,
  shared = false,
): string {
  return `import { open } from ${JSON.stringify(`${REPOSITORY}mod.ts`)};
    const warnings = [];
    const cache = ${JSON.stringify({ directory: cache, shared })};
    const remote = { cache, onWarning: (text) => warnings.push(text) };
    using container = await open(${JSON.stringify(url)}, { remote });
    const { length } = await container.read("000000");
    console.log(JSON.stringify({ length, warnings }));`;
}

Deno.test("without the C library the same rules apply, and nothing is shared", async () => {
  await withCachePlace(async ({ dir, server, url }) => {
    const read = async (cache: string, shared = false) => {
      fs.writeFileSync(`${dir}/program.ts`, program(url, cache, shared));
      const { stdout, stderr } = await run([
        ...[Deno.execPath(), "run", "--no-prompt", "--no-check"],
        `--config=${REPOSITORY}deno.json`,
        ...["--allow-net", "--allow-read", "--allow-write", "--allow-env"],
        "--allow-sys=statfs",
        `${dir}/program.ts`,
      ]);
      assert.ok(stdout !== "", stderr);
      const { length, warnings } = JSON.parse(stdout);
      assert.equal(length, 100_000);
      return warnings as string[];
    };
    assert.deepEqual(await read(`${dir}/c`), []);
    assert.equal(fs.statSync(`${dir}/c`).mode & 0o7777, 0o700);
    server.asked.length = 0;
    assert.deepEqual(await read(`${dir}/c`), []);
    assert.equal(server.asked.length, 1); // the revalidation
    const [data] = fs.globSync(`${dir}/c/objects/*/*/data`);
    const victim = new Victim(`${dir}/victim`);
    fs.rmSync(data!);
    fs.symlinkSync(victim.path, data!);
    assert.match((await read(`${dir}/c`))[0]!, /data is a symbolic link/);
    victim.assertUntouched("a symbolic link");
    makeDirectory(`${dir}/all`, 0o777);
    assert.match((await read(`${dir}/all`))[0]!, /written by everybody/);
    makeDirectory(`${dir}/group`, 0o770);
    assert.match((await read(`${dir}/group`, true))[0]!, /--allow-ffi/);
  });
});

Deno.test("the default directory is private, whatever the umask", async () => {
  await withTempDir(async (dir) => {
    fs.chmodSync(dir, 0o755);
    const module = `${REPOSITORY}src/io/remote/cache/cache_root.ts`;
    fs.writeFileSync(
      `${dir}/program.ts`,
      `import { CacheRoot } from ${JSON.stringify(module)};
      const root = new CacheRoot({}, console.warn);
      using directory = root.make(["objects"]);
      using file = directory.makeFile("x");`,
    );
    // With the last umask, only root can enter directories that Deno itself makes.
    for (const umask of ["000", Deno.uid() === 0 ? "777" : "077"]) {
      const home = makeDirectory(`${dir}/${umask}`, 0o755);
      const { code, stderr } = await run([
        ...["sh", "-c", `umask ${umask}; exec "$@"`, "sh"],
        ...[Deno.execPath(), "run", "-A", "--no-check"],
        ...[`--config=${REPOSITORY}deno.json`, `${dir}/program.ts`],
      ], {
        env: {
          HOME: home,
          XDG_CACHE_HOME: "", // equivalent to unset
          DENO_DIR: `${dir}/deno-${umask}`,
        },
      });
      assert.deepEqual([code, stderr], [0, ""]);
      const made = [".cache", ".cache/recordfs", ".cache/recordfs/objects"];
      for (const path of made) {
        assert.equal(fs.statSync(`${home}/${path}`).mode & 0o7777, 0o700, path);
      }
      const file = fs.statSync(`${home}/.cache/recordfs/objects/x`);
      assert.equal(file.mode & 0o7777, 0o600);
    }
  });
});

Deno.test("threads of a loader do not repeat that a cache is not used", async () => {
  await withCachePlace(async ({ dir, url }) => {
    const cache = makeDirectory(`${dir}/c`, 0o777);
    fs.writeFileSync(
      `${dir}/program.ts`,
      `import { DataLoader, FFRecordDataset } from "${REPOSITORY}src/open/data/mod.ts";
      const [url, directory] = Deno.args;
      const remote = { cache: { directory } };
      using dataset = await FFRecordDataset.open(url, { remote });
      await using loader = new DataLoader(dataset, { numWorkers: 2 });
      for await (const batch of loader) console.log(batch.length);`,
    );
    const { stdout, stderr } = await run([
      ...[Deno.execPath(), "run", "-A", "--no-check", "--quiet"],
      ...[`--config=${REPOSITORY}deno.json`, `${dir}/program.ts`, url, cache],
    ]);
    assert.equal(stdout, "1\n".repeat(4), stderr);
    assert.equal(stderr.split("Cannot use the cache").length, 2, stderr);
  });
});
