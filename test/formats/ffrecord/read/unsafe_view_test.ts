import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "../../../support/random.ts";
import {
  FFRecordReader,
  PackedFolder,
} from "../../../../src/formats/ffrecord/mod.ts";
import { FormatError, IndexError } from "../../../../src/base/errors.ts";
import { ffrBytes } from "../../../support/ffrecord/make_ffr.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const sizes = goldenCase("ffrecord/plain_sizes");

function sourceOf(path: string): string {
  return new URL(`../../../../src/${path}`, import.meta.url).href;
}

/** Runs a script that uses `FFRecordReader` and `RecordfsError`, and returns its output. */
async function runScript(
  dir: string,
  script: string,
  { flags = ["-A"], shell = "" } = {},
): Promise<string> {
  const file = `${dir}/script.ts`;
  await Deno.writeTextFile(
    file,
    `import { FFRecordReader } from "${sourceOf("formats/ffrecord/mod.ts")}";
import { RecordfsError } from "${sourceOf("base/errors.ts")}";
${script}`,
  );
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", `${shell} exec "$@"`, "sh", Deno.execPath(), "run"]
      .concat(["--no-check", "--no-prompt", ...flags, file]),
    cwd: REPOSITORY,
  }).output();
  const decoder = new TextDecoder();
  return `${decoder.decode(stdout)}${decoder.decode(stderr)}`.trim();
}

Deno.test("views equal the read samples, in any batch", linux, async () => {
  const parts = goldenCase("ffrecord/parts_dump");
  for (const { path, content } of [parts, sizes]) {
    using reader = await FFRecordReader.open(path);
    const expected = content.samples.map((sample) => sample.sha256);
    const index = fc.nat({ max: reader.length - 1 });
    fc.assert(
      fc.property(fc.array(index, { maxLength: 60 }), (indices) => {
        const hashes = indices.map((i) => expected[i]);
        assert.deepEqual(reader.unsafeViews(indices).map(sha256), hashes);
      }),
    );
    for (const [i, hash] of expected.entries()) {
      assert.equal(sha256(reader.unsafeView(i)), hash);
    }
  }
});

Deno.test("a packed file is viewed by its path", linux, () => {
  const { path } = goldenCase("ffrecord/packed_tree");
  using folder = PackedFolder.openSync(path);
  for (const name of folder.list("", { dirs: false, recursive: true })) {
    assert.deepEqual(folder.unsafeView(name), folder.readSync(name));
  }
  assert.throws(() => folder.unsafeView("words"), /is a directory/);
});

Deno.test("views of missing or damaged samples are rejected", linux, () => {
  using reader = FFRecordReader.openSync(sizes.path);
  assert.throws(() => reader.unsafeView(17), IndexError);
  assert.throws(() => reader.unsafeViews([0, -1]), IndexError);
  const damaged = goldenCase("ffrecord/bad_flip_sample");
  using strict = FFRecordReader.openSync(damaged.path);
  assert.throws(
    () => strict.unsafeView(3),
    (error) =>
      error instanceof FormatError && error.code === "sample-checksum" &&
      error.sample === 3,
  );
  using lax = FFRecordReader.openSync(damaged.path, { checkData: false });
  assert.deepEqual(lax.unsafeView(3), lax.readOneSync(3));
});

Deno.test(
  "views of a truncated file are an error, not the end of the process",
  linux,
  async () => {
    await withTempDir((dir) => {
      const path = `${dir}/a.ffr`;
      const samples = [1, 2, 3].map((i) => new Uint8Array(50_000).fill(i));
      fs.writeFileSync(path, ffrBytes(samples));
      using reader = FFRecordReader.openSync(path);
      assert.deepEqual(reader.unsafeView(2), samples[2]);
      fs.truncateSync(path, 60_000);
      for (const index of [1, 2]) {
        assert.throws(
          () => reader.unsafeView(index),
          (error) =>
            error instanceof FormatError && error.code === "out-of-bounds" &&
            error.path === path,
        );
      }
    });
  },
);

Deno.test(
  "writing to a view does not change the file, and its checksum detects it",
  linux,
  async () => {
    await withTempDir((dir) => {
      const path = `${dir}/a.ffr`;
      const bytes = ffrBytes([new Uint8Array(5000).fill(7)]);
      fs.writeFileSync(path, bytes);
      using reader = FFRecordReader.openSync(path);
      reader.unsafeView(0)[10] = 8;
      assert.deepEqual(new Uint8Array(fs.readFileSync(path)), bytes);
      assert.equal(reader.readOneSync(0)[10], 7);
      assert.throws(() => reader.unsafeView(0), { code: "sample-checksum" });
    });
  },
);

Deno.test(
  "a memory map lasts as long as its views, and no longer",
  linux,
  async () => {
    await withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      fs.writeFileSync(path, ffrBytes([new Uint8Array(100_000).fill(7)]));
      const printed = await runScript(
        dir,
        `
      const isMapped = () => Deno.readTextFileSync("/proc/self/maps").includes("${path}");
      const collect = async (most) => {
        for (let i = 0; i < most && isMapped(); i++) {
          gc();
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      let reader = FFRecordReader.openSync("${path}");
      console.log(isMapped());
      let view = reader.unsafeView(0).subarray(1000);
      reader.close();
      reader = undefined;
      await collect(20);
      console.log(isMapped(), view.every((byte) => byte === 7));
      view = undefined;
      await collect(5000);
      console.log(isMapped());`,
        { flags: ["-A", "--v8-flags=--expose-gc"] },
      );
      assert.equal(printed, "false\ntrue true\nfalse");
    });
  },
);

Deno.test(
  "transferred views remain mapped for their receiver",
  linux,
  async () => {
    await withTempDir(async (dir) => {
      const path = `${dir}/a.ffr`;
      fs.writeFileSync(path, ffrBytes([new Uint8Array(100_000).fill(7)]));
      const printed = await runScript(
        dir,
        `
      let reader = FFRecordReader.openSync("${path}");
      const { buffer } = reader.unsafeView(0);
      const moved = new Uint8Array(structuredClone(buffer, { transfer: [buffer] }));
      console.log(reader.unsafeView(0).length); // mapped again
      reader.close();
      reader = undefined;
      for (let i = 0; i < 20; i++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      console.log(moved.at(-1), moved.length);`,
        { flags: ["-A", "--v8-flags=--expose-gc"] },
      );
      assert.equal(printed, "100000\n7 100024");
    });
  },
);

Deno.test("1,000 parts are viewed within 256 descriptors", linux, async () => {
  await withTempDir(async (dir) => {
    const parts = `${dir}/parts`;
    fs.mkdirSync(parts);
    for (let i = 0; i < 1000; i++) {
      const name = String(i).padStart(5, "0");
      fs.writeFileSync(
        `${parts}/${name}.ffr`,
        ffrBytes([Uint8Array.of(i, i >> 8)]),
      );
    }
    const printed = await runScript(
      dir,
      `
      using reader = FFRecordReader.openSync("${parts}");
      const order = Array.from({ length: 1000 }, (_, i) => 999 - i);
      const views = reader.unsafeViews(order);
      console.log(order.every((i, k) => views[k][0] + 256 * views[k][1] === i));`,
      { shell: "ulimit -n 256 &&" },
    );
    assert.equal(printed, "true");
  });
});

Deno.test(
  "without --allow-ffi views name the permission, and reading works",
  linux,
  async () => {
    await withTempDir(async (dir) => {
      const printed = await runScript(
        dir,
        `
      using reader = FFRecordReader.openSync("${sizes.path}");
      try {
        reader.unsafeView(5);
      } catch (error) {
        console.log(error.code, error instanceof RecordfsError, error.message);
      }
      console.log((await reader.read([5]))[0].length === reader.readOneSync(5).length);`,
        { flags: ["--allow-read"] },
      );
      const [refusal, reads] = printed.split("\n");
      assert.match(
        refusal!,
        /^unsupported true .*needs --allow-ffi\. Call read\(\) instead/,
      );
      assert.equal(reads, "true");
    });
  },
);

Deno.test(
  "a sample truncated to nothing is damaged in a view as well",
  linux,
  async () => {
    await withTempDir((dir) => {
      const path = `${dir}/cut.ffr`;
      const bytes = ffrBytes([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)]);
      fs.writeFileSync(path, bytes.subarray(0, -2));
      using reader = FFRecordReader.openSync(path);
      const isDamage = (error: unknown) =>
        error instanceof FormatError && error.code === "sample-checksum" &&
        error.sample === 1;
      assert.throws(() => reader.readOneSync(1), isDamage);
      assert.throws(() => reader.unsafeView(1), isDamage);
      using unchecked = FFRecordReader.openSync(path, { checkData: false });
      assert.equal(unchecked.unsafeView(1).length, 0);
    });
  },
);
