/** Databases that Python's lmdb writes to while they are read: one state of it, or an error that says so. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createInterface } from "node:readline";
import { mount, openSamples } from "../../../../mod.ts";
import { FormatError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../src/open/open.ts";
import { OpenedSamples } from "../../../../src/open/samples/opened_samples.ts";
import { withMountpoint } from "../../../fuse/support/mounting.ts";
import { LONG } from "../../../support/long.ts";
import { fromFileUrl, withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const SCRIPT = fromFileUrl(new URL("../python/writer.py", import.meta.url));
/** Keys that the script writes. */
const KEYS = 200;

const onWarning = (message: string) => assert.fail(message);
const isChanged = (error: unknown) =>
  error instanceof FormatError && error.code === "changed" &&
  /it was replaced or changed after it was opened/.test(error.message);

/** Runs with a database that commits so many transactions when told. */
async function withWriter(
  body: (
    path: string,
    commit: (count: number) => Promise<number>,
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const path = `${dir}/x.lmdb`;
    const child = spawn(PYTHON, [SCRIPT, path], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    const lines = createInterface({ input: child.stdout })
      [Symbol.asyncIterator]();
    try {
      await body(path, async (count) => {
        child.stdin.write(`${count}\n`);
        const { value, done } = await lines.next();
        assert.ok(!done, "the writer has ended");
        return Number(value);
      });
    } finally {
      child.stdin.end();
      await ended;
    }
  });
}

/** The number of the transaction that wrote all of these values. */
function generationOf(values: readonly Uint8Array[]): number {
  const found = new Set(
    values.map((bytes) => /^\d+/.exec(new TextDecoder().decode(bytes))?.[0]),
  );
  assert.equal(found.size, 1, [...found].join(" "));
  return Number([...found][0]);
}

Deno.test({
  name:
    "after a transaction its state stays, and after two nothing more is read of it (needs lmdb)",
  ...needs("lmdb"),
  fn: () =>
    withWriter(async (path, commit) => {
      const first = await commit(3);
      using container = await open(path, { onWarning });
      using samples = await openSamples(path, { onWarning });
      using others = await OpenedSamples.openShared(samples.share());
      const keys = await container.list("");
      assert.equal(keys.length, KEYS);
      const indices = keys.map((_, i) => i);
      const contents = (read: readonly { readonly content?: unknown }[]) =>
        read.map(({ content }) => content as Uint8Array);
      const all = async () => [
        await container.read(keys),
        contents(await samples.read(indices)),
        contents(await others.read(indices)),
        contents(samples.readSync(indices)),
        container.readSync(keys),
      ];
      for (const read of await all()) assert.equal(generationOf(read), first);
      await commit(1);
      for (const read of await all()) assert.equal(generationOf(read), first);
      await commit(1);
      await assert.rejects(() => container.read(keys), isChanged);
      await assert.rejects(() => container.read(keys[0]!), isChanged);
      await assert.rejects(() => samples.read(indices), isChanged);
      await assert.rejects(() => others.read(5), isChanged);
      assert.throws(() => samples.readSync(5), isChanged);
      assert.throws(() => container.readSync(keys), isChanged);
      using again = await open(path, { onWarning });
      assert.equal(generationOf(await again.read(keys)), first + 2);
    }),
});

Deno.test({
  name:
    "a database that is written to all the time is opened, read and checked as one state (needs lmdb)",
  ...needs("lmdb"),
  fn: () =>
    withWriter(async (path, commit) => {
      await commit(1);
      let isWriting = true;
      const writing = (async () => {
        while (isWriting) await commit(20);
      })();
      let whole = 0;
      const attempt = async (run: () => Promise<void>) => {
        try {
          await run();
          whole++;
        } catch (error) {
          if (!isChanged(error)) throw error;
        }
      };
      try {
        const times = LONG ? 1000 : 60;
        for (let i = 0; i < times || whole === 0; i++) {
          await attempt(async () => {
            using container = await open(path, { onWarning });
            const keys = await container.list("");
            assert.equal(keys.length, KEYS);
            generationOf(await container.read(keys));
          });
          await attempt(async () => {
            const onDamage = (error: Error) => {
              throw error;
            };
            await check(path, { onDamage, onWarning });
          });
        }
      } finally {
        isWriting = false;
        await writing;
      }
      using container = await open(path, { onWarning });
      const keys = await container.list("");
      generationOf(await container.read(keys));
    }),
});

Deno.test({
  name:
    "a mount shows the state that was mounted, and no byte of a later one (needs lmdb)",
  ...needs("lmdb", "fuse", "root"),
  fn: () =>
    withWriter((path, commit) =>
      withMountpoint(async (mountpoint) => {
        const first = await commit(3);
        const log: string[] = [];
        const options = { onLog: (message: string) => void log.push(message) };
        await using _mounted = await mount(path, mountpoint, options);
        const keys = fs.readdirSync(mountpoint).sort();
        assert.equal(keys.length, KEYS);
        const read = (of: readonly string[]) =>
          of.map((key) => fs.readFileSync(`${mountpoint}/${key}`));
        // Small values, and every tenth on overflow pages.
        assert.equal(generationOf(read(keys.slice(0, 50))), first);
        await commit(1);
        assert.equal(generationOf(read(keys.slice(0, 100))), first);
        assert.deepEqual(log, []);
        await commit(1);
        for (const key of keys.slice(100)) {
          assert.throws(() => read([key]), { code: "EIO" }, key);
        }
        while (log.length === 0) await delay(10); // threads send it
        for (const message of log) {
          assert.match(
            message,
            /x\.lmdb: another program has written over .*Mount it again$/,
          );
        }
      })
    ),
});

Deno.test({
  name: "reads of a mount beside a writer have one state, or fail (needs lmdb)",
  ...needs("lmdb", "fuse", "root"),
  fn: () =>
    withWriter((path, commit) =>
      withMountpoint(async (mountpoint) => {
        await commit(3);
        for (let i = 0; i < (LONG ? 40 : 4); i++) {
          const options = { onLog() {} };
          await using _mounted = await mount(path, mountpoint, options);
          const writing = commit(1 + i % 3);
          const values: Uint8Array[] = [];
          for (const key of fs.readdirSync(mountpoint)) {
            try {
              values.push(await fs.promises.readFile(`${mountpoint}/${key}`));
            } catch (error) {
              assert.equal((error as { code?: string }).code, "EIO");
            }
          }
          if (values.length > 0) generationOf(values);
          await writing;
        }
      })
    ),
});
