/** Streams and files that were cut, or whose writer was stopped: whole batches are read, and what is missing is said. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { check, open, openSamples } from "../../../mod.ts";
import { output } from "../../fuse/support/mounting.ts";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";

const SCRIPT = fromFileUrl(new URL("python/make_stream.py", import.meta.url));
const BATCHES = 5;
const ROWS = 4;

/** Runs with both files, and where each of their batches ends. */
async function withBatches(
  body: (
    kind: "stream" | "file",
    path: string,
    ends: readonly number[],
  ) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    const { stdout, stderr } = await output(PYTHON, SCRIPT, dir, `${BATCHES}`);
    assert.equal(stderr, "");
    const ends = JSON.parse(stdout);
    for (const kind of ["stream", "file"] as const) {
      await body(kind, `${dir}/${kind}.arrow`, ends[kind]);
    }
  });
}

Deno.test({
  name:
    "of a stream or file that was cut, rows of whole batches are read (needs pyarrow)",
  ...needs("pyarrow"),
  fn: () =>
    withBatches(async (kind, path, ends) => {
      const whole = fs.readFileSync(path);
      const after = ends[0]! - 3;
      assert.ok(after > 0);
      const cuts = [
        ...ends.flatMap((end) => [end - 3, end, end + 3]),
        whole.length - 1,
      ];
      for (const cut of cuts) {
        fs.writeFileSync(path, whole.subarray(0, cut));
        const rows = ROWS * ends.filter((end) => end <= cut).length;
        const warnings: string[] = [];
        const onWarning = (message: string) => void warnings.push(message);
        if (rows === 0) {
          await assert.rejects(open(path), { code: "truncated" });
          continue;
        }
        using samples = await openSamples<{ n: bigint; word: string }>(path, {
          onWarning,
        });
        const read = await samples.get([...Array(samples.length).keys()]);
        assert.deepEqual(
          read.map(({ n, word }) => [n, word]),
          Array.from({ length: rows }, (_, i) => [BigInt(i), "abc"[i % 3]]),
          `${kind} of ${cut} bytes`,
        );
        // A stream may end after a batch.
        const isWhole = kind === "stream" && ends.includes(cut);
        const damage: string[] = [];
        await check(path, { onDamage: ({ code }) => void damage.push(code) });
        assert.deepEqual(damage, isWhole ? [] : ["truncated"], `${cut}`);
        assert.equal(warnings.length, isWhole ? 0 : 1);
        using tree = await open(path, { onWarning() {} });
        assert.equal((await tree.list("")).length, rows);
        assert.equal(tree.info.unreadable?.length, isWhole ? undefined : 1);
      }
    }),
});

Deno.test({
  name:
    "a stream with a damaged message is read up to it, and one without rows is refused (needs pyarrow)",
  ...needs("pyarrow"),
  fn: () =>
    withBatches(async (kind, path, ends) => {
      if (kind === "file") return;
      const bytes = fs.readFileSync(path);
      bytes.fill(0xff, ends[2]! + 4, ends[2]! + 40);
      fs.writeFileSync(path, bytes);
      const onWarning = () => {};
      using samples = await openSamples(path, { onWarning });
      assert.equal(samples.length, 3 * ROWS);
      const { damage } = await check(path, { onWarning });
      assert.equal(damage!.length, 1);
      fs.writeFileSync(path, bytes.subarray(0, ends[0]! - 1));
      await assert.rejects(open(path), { code: "truncated" });
    }),
});
