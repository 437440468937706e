import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { dump, FFRecordReader } from "../../../../src/formats/ffrecord/mod.ts";
import type { SampleList } from "../../../../src/formats/ffrecord/write/dump.ts";
import { goldenCase } from "../../../support/golden.ts";
import { ffrBytes } from "../../../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";

/** Number of parts requested from the original library. */
const GOLDEN = [["parts_dump", 4], ["parts_fewer", 12]] as const;

for (const [name, parts] of GOLDEN) {
  Deno.test(`dump() writes the files of ${name}`, async () => {
    const { path } = goldenCase(`ffrecord/${name}`);
    using reader = await FFRecordReader.open(path);
    const samples = {
      length: reader.length,
      at: (index: number) => reader.readOne(index),
    };
    await withTempDir(async (dir) => {
      const warnings: string[] = [];
      const onWarning = (message: string) => void warnings.push(message);
      const out = `${dir}/out`;
      const paths = await dump(samples, out, parts, { onWarning });
      const names = fs.readdirSync(path).sort();
      assert.deepEqual(paths, names.map((name) => `${out}/${name}`));
      assert.deepEqual(fs.readdirSync(out).sort(), names);
      for (const name of names) {
        const [ours, theirs] = [`${out}/${name}`, `${path}/${name}`]
          .map((file) => fs.readFileSync(file));
        assert.equal(Buffer.compare(ours!, theirs!), 0, name);
      }
      assert.deepEqual(fs.readdirSync(dir), ["out"]);
      assert.equal(warnings.length, names.length === parts ? 0 : 1);
    });
  });
}

Deno.test("one part is the file itself", async () => {
  await withTempDir(async (dir) => {
    const samples = [Uint8Array.of(1), new Blob(["ab"]), new ArrayBuffer(3)];
    const path = `${dir}/a.ffr`;
    assert.deepEqual(await dump(samples, path, 1), [path]);
    const expected = [[1], [97, 98], [0, 0, 0]].map((x) => Uint8Array.from(x));
    assert.equal(Buffer.compare(fs.readFileSync(path), ffrBytes(expected)), 0);
  });
});

Deno.test("any number of samples in any number of parts reads back as one sequence", async () => {
  await withTempDir(async (dir) => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 60 }),
        fc.integer({ min: 2, max: 70 }),
        async (samples, parts) => {
          const out = `${dir}/${run++}`;
          const progress: number[] = [];
          const paths = await dump(samples, out, parts, {
            onWarning: () => {},
            onProgress(done, total) {
              assert.equal(total, samples.length);
              progress.push(done);
            },
          });
          assert.ok(paths.length <= parts);
          using reader = await FFRecordReader.open(out);
          assert.deepEqual(reader.paths, paths);
          const read = await reader.read([...samples.keys()]);
          assert.deepEqual(read.map((x) => [...x]), samples.map((x) => [...x]));
          assert.deepEqual(progress, samples.map((_, i) => i + 1));
        },
      ),
      { numRuns: LONG ? 40 : 15 },
    );
  });
});

Deno.test("more than 100,000 parts are still read in order", async () => {
  const { divide } = await import(
    "../../../../src/formats/ffrecord/write/record_paths.ts"
  );
  const names = divide(250_000, 125_000).map(({ name }) => name);
  assert.equal(names[0], "PART_000000.ffr");
  assert.deepEqual(names, names.toSorted());
  assert.equal(divide(20, 10)[9]!.name, "PART_00009.ffr");
});

Deno.test("several parts are written concurrently", async () => {
  await withTempDir(async (dir) => {
    // Each of the first four samples is available only when all four have been requested.
    const all = Promise.withResolvers<void>();
    let asked = 0;
    const samples: SampleList = {
      length: 4,
      async at(index) {
        if (++asked === 4) all.resolve();
        await all.promise;
        return Uint8Array.of(index);
      },
    };
    const paths = await dump(samples, `${dir}/out`, 4);
    assert.equal(paths.length, 4);
  });
});

Deno.test("a failing, missing or invalid sample leaves nothing behind", async () => {
  await withTempDir(async (dir) => {
    const out = `${dir}/out`;
    const list = (at: (index: number) => unknown) =>
      ({ length: 20, at }) as unknown as SampleList;
    const failing: [SampleList, RegExp][] = [
      [list((i) => i === 13 ? undefined : Uint8Array.of(i)), /no sample 13/],
      [list((i) => i === 13 ? "text" : Uint8Array.of(i)), /TextEncoder/],
      [
        list(async (i) => {
          await setTimeout(1);
          if (i === 13) throw new Error("lost");
          return new Uint8Array(100_000);
        }),
        /lost/,
      ],
    ];
    for (const [samples, message] of failing) {
      for (const parts of [1, 4, 20]) {
        const target = parts === 1 ? `${dir}/out.ffr` : out;
        await assert.rejects(dump(samples, target, parts), message);
        assert.deepEqual(fs.readdirSync(dir), []);
      }
    }
  });
});

Deno.test("a signal aborts it, and nothing remains", async () => {
  await withTempDir(async (dir) => {
    for (const parts of [1, 3]) {
      const controller = new AbortController();
      const samples = {
        length: 30,
        async at() {
          await setTimeout(1);
          return new Uint8Array(100_000);
        },
      };
      const dumping = dump(samples, `${dir}/out.ffr`, parts, {
        signal: controller.signal,
        onProgress: (done) =>
          done === 10 && controller.abort(new Error("enough")),
      });
      await assert.rejects(dumping, /enough/);
      assert.deepEqual(fs.readdirSync(dir), []);
    }
  });
});

Deno.test("it can be aborted while a sample never arrives", async () => {
  await withTempDir(async (dir) => {
    for (const parts of [1, 3]) {
      const controller = new AbortController();
      const { signal } = controller;
      const samples = {
        length: 3,
        at(index: number) {
          if (index === parts - 1) controller.abort(new Error("enough"));
          return index === 0
            ? new Promise<Uint8Array>(() => {})
            : new Uint8Array(10);
        },
      };
      const out = `${dir}/out.ffr`;
      await assert.rejects(dump(samples, out, parts, { signal }), /enough/);
      assert.deepEqual(fs.readdirSync(dir), []);
    }
  });
});

Deno.test("an empty directory is replaced, a full one or a file rejected", async () => {
  await withTempDir(async (dir) => {
    const samples = [Uint8Array.of(1), Uint8Array.of(2)];
    const out = `${dir}/out`;
    fs.mkdirSync(out);
    fs.symlinkSync("out", `${dir}/link`);
    await dump(samples, `${dir}/link/`, 2);
    assert.ok(fs.lstatSync(`${dir}/link`).isSymbolicLink());
    assert.equal(fs.readdirSync(out).length, 2);
    const full = { name: "WriteError", code: "not-empty", path: out };
    await assert.rejects(dump(samples, out, 2), full);
    fs.writeFileSync(`${dir}/file`, "");
    const none = { name: "WriteError", code: "not-a-directory" };
    await assert.rejects(dump(samples, `${dir}/file`, 2), none);
    for (const parts of [0, -1, 1.5, NaN]) {
      await assert.rejects(dump(samples, `${dir}/x.ffr`, parts), RangeError);
    }
    assert.deepEqual(fs.readdirSync(dir).sort(), ["file", "link", "out"]);
  });
});

Deno.test("parent directories of the parts are created", async () => {
  await withTempDir(async (dir) => {
    const samples = [Uint8Array.of(1), Uint8Array.of(2)];
    await dump(samples, `${dir}/a/b/c/`, 2);
    assert.deepEqual(fs.readdirSync(`${dir}/a/b`), ["c"]);
    assert.deepEqual(fs.readdirSync(`${dir}/a/b/c`).sort(), [
      "PART_00000.ffr",
      "PART_00001.ffr",
    ]);
    fs.writeFileSync(`${dir}/file`, "");
    await assert.rejects(dump(samples, `${dir}/file/b`, 2), {
      name: "WriteError",
      message: /Cannot write .*file\/b/,
    });
  });
});

Deno.test("a directory that receives files meanwhile is not replaced", async () => {
  await withTempDir(async (dir) => {
    const out = `${dir}/out`;
    const samples = {
      length: 2,
      at(index: number) {
        fs.mkdirSync(out, { recursive: true });
        fs.writeFileSync(`${out}/other`, "");
        return Uint8Array.of(index);
      },
    };
    await assert.rejects(dump(samples, out, 2), { code: "not-empty" });
    assert.deepEqual(fs.readdirSync(dir), ["out"]);
    assert.deepEqual(fs.readdirSync(out), ["other"]);
  });
});

Deno.test({
  name: "a full disk is reported for the requested part, and leaves nothing",
  ...needs("root"),
  async fn() {
    await withTmpfs("1m", async (dir) => {
      const samples = Array.from({ length: 30 }, () => new Uint8Array(90_000));
      await assert.rejects(dump(samples, `${dir}/out`, 3), {
        code: "ENOSPC",
        message: /^Cannot write [^ ]*\/out\/PART_0000\d\.ffr: the disk is full/,
      });
      assert.deepEqual(fs.readdirSync(dir), []);
    });
  },
});

Deno.test("a killed process leaves all parts or none", async () => {
  const script = `
    import { dump } from "${REPOSITORY}src/formats/ffrecord/mod.ts";
    for (let round = 1; ; round++) {
      const samples = Array(12).fill(new Uint8Array(200_000).fill(round));
      await dump(samples, Deno.args[0] + round, 4);
      console.log(round);
    }`;
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/dump.ts`, script);
    for (let kill = 0; kill < (LONG ? 4 : 2); kill++) {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", `${dir}/dump.ts`, `${dir}/k${kill}-`],
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      await output.read();
      await setTimeout(Math.random() * 100);
      child.kill("SIGKILL");
      await child.status;
      await output.cancel();
      const written = fs.readdirSync(dir).filter((name) =>
        name.startsWith(`k${kill}-`)
      );
      assert.ok(written.length > 0);
      for (const name of written) {
        using reader = FFRecordReader.openSync(`${dir}/${name}`);
        assert.deepEqual([reader.length, reader.paths.length], [12, 4]);
        reader.readSync([...Array(12).keys()]);
      }
    }
  });
});
