/** State of the file and of the writer when a write fails. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import {
  FFRecordReader,
  FFRecordWriter,
} from "../../../../src/formats/ffrecord/mod.ts";
import { RecordfsError, WriteError } from "../../../../src/base/errors.ts";
import { ffrBytes } from "../../../support/ffrecord/make_ffr.ts";
import { LONG } from "../../../support/long.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { needs } from "../../../support/programs/programs.ts";
import { withTmpfs } from "../../../support/programs/tmpfs.ts";

const ONE = Uint8Array.of(1);
const OLD = ffrBytes([Uint8Array.of(7, 7, 7)]);

function assertSameBytes(path: string, expected: Uint8Array): void {
  assert.equal(Buffer.compare(fs.readFileSync(path), expected), 0, path);
}

Deno.test("more samples than the count, or fewer, are an error", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(path, OLD);
    await using writer = await FFRecordWriter.open(path, { count: 2 });
    await writer.write(ONE);
    await writer.write(ONE);
    const tooMany = { name: "WriteError", code: "too-many-samples" };
    await assert.rejects(writer.write(ONE), tooMany);
    assert.throws(() => writer.writeSync(ONE), tooMany);
    assert.equal(writer.length, 2);
    await writer.close(); // the two samples are a complete file
    assertSameBytes(path, ffrBytes([ONE, ONE]));

    fs.writeFileSync(path, OLD);
    const tooFew = { code: "too-few-samples", expected: 3, actual: 1 };
    await using second = await FFRecordWriter.open(path, { count: 3 });
    await second.write(ONE);
    await assert.rejects(second.close(), tooFew);
    using third = FFRecordWriter.openSync(path, { count: 3 });
    third.writeSync(ONE);
    assert.throws(() => third.closeSync(), tooFew);
    assertSameBytes(path, OLD);
    assert.deepEqual(fs.readdirSync(dir), ["a.ffr"]);
  });
});

Deno.test("a count must be a whole number of samples", async () => {
  await withTempDir(async (dir) => {
    for (const count of [-1, 1.5, NaN, 2 ** 53, 2 ** 52]) {
      await assert.rejects(
        FFRecordWriter.open(`${dir}/a.ffr`, { count }),
        RangeError,
      );
    }
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("a closed writer rejects samples, and closing it again does nothing", async () => {
  await withTempDir(async (dir) => {
    const closed = { name: "WriteError", code: "closed", message: /closed/ };
    const writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    await writer.write(ONE);
    const closing = writer.close();
    await assert.rejects(writer.write(ONE), closed);
    await closing;
    await writer.close();
    writer.closeSync();
    writer.abort();
    writer[Symbol.dispose]();
    await assert.rejects(writer.write(ONE), closed);
    assert.throws(() => writer.writeSync(ONE), closed);
    assertSameBytes(`${dir}/a.ffr`, ffrBytes([ONE]));

    const givenUp = {
      name: "WriteError",
      code: "closed",
      message: /was aborted/,
    };
    const aborted = FFRecordWriter.openSync(`${dir}/b.ffr`);
    aborted.writeSync(ONE);
    aborted.abort();
    aborted.abort();
    await assert.rejects(aborted.write(ONE), givenUp);
    await assert.rejects(aborted.close(), givenUp);
    assert.throws(() => aborted.closeSync(), givenUp);
    assert.deepEqual(fs.readdirSync(dir), ["a.ffr"]);
  });
});

Deno.test("leaving a block without closing leaves nothing, and does not change the old file", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    fs.writeFileSync(path, OLD);
    await assert.rejects(async () => {
      await using writer = await FFRecordWriter.open(path);
      await writer.write(new Uint8Array(2_000_000));
      writer.write(new Uint8Array(3_000_000)).catch(() => {}); // in progress
      throw new Error("out of the block");
    }, /out of the block/);
    assert.deepEqual(fs.readdirSync(dir), ["a.ffr"]);
    assertSameBytes(path, OLD);
  });
});

Deno.test("synchronous methods are rejected while an asynchronous one is running", async () => {
  await withTempDir(async (dir) => {
    await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    const large = new Uint8Array(3_000_000);
    const writing = writer.write(large);
    assert.throws(() => writer.writeSync(ONE), { code: "busy" });
    assert.throws(() => writer.closeSync(), { code: "busy" });
    await writing;
    writer.writeSync(ONE);
    writer.closeSync();
    assertSameBytes(`${dir}/a.ffr`, ffrBytes([large, ONE]));
  });
});

Deno.test("a failing stream leaves the writer at the previous sample", async () => {
  await withTempDir(async (dir) => {
    for (const size of [10, 100_000, 3_000_000]) {
      await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
      let ended = false;
      const failing = async function* () {
        try {
          yield new Uint8Array(size);
          await setTimeout(1);
          throw new Error("the network is down");
        } finally {
          ended = true;
        }
      };
      await writer.write(ONE);
      await assert.rejects(writer.write(failing()), /network is down/);
      assert.equal(writer.length, 1);
      assert.ok(ended);
      assert.equal(await writer.write(Uint8Array.of(2)), 1);
      await writer.close();
      assertSameBytes(`${dir}/a.ffr`, ffrBytes([ONE, Uint8Array.of(2)]));
    }
  });
});

Deno.test("samples that were not awaited fail with the one before them", async () => {
  await withTempDir(async (dir) => {
    await using writer = await FFRecordWriter.open(`${dir}/a.ffr`);
    const failing = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("broken")),
    });
    const first = writer.write(failing);
    const second = writer.write(ONE);
    const closing = writer.close();
    await assert.rejects(first, /broken/);
    await assert.rejects(second, { code: "earlier-write-failed" });
    await assert.rejects(closing, { code: "earlier-write-failed" });
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("a signal ends a write, a close and an opening", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    const aborted = { signal: AbortSignal.abort(new Error("enough")) };
    await assert.rejects(FFRecordWriter.open(path, aborted), /enough/);
    assert.deepEqual(fs.readdirSync(dir), []);

    await using writer = await FFRecordWriter.open(path);
    await assert.rejects(writer.write(ONE, aborted), /enough/);
    const controller = new AbortController();
    let closed = false;
    const hanging = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new Uint8Array(100_000)),
      cancel: () => void (closed = true),
    });
    const writing = writer.write(hanging, { signal: controller.signal });
    await setTimeout(5);
    controller.abort(new Error("too slow"));
    await assert.rejects(writing, /too slow/);
    await setTimeout(0);
    assert.ok(closed);
    assert.equal(await writer.write(ONE), 0);
    await assert.rejects(writer.close(aborted), /enough/);
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test({
  name:
    "a full disk leaves nothing behind; a write can be repeated once there is room",
  ...needs("root"),
  async fn() {
    await withTmpfs("2m", async (dir) => {
      const path = `${dir}/a.ffr`;
      fs.writeFileSync(path, OLD);
      const full = {
        name: "WriteError",
        code: "ENOSPC",
        message: /disk is full/,
      };
      for (const count of [50, undefined]) {
        await using writer = await FFRecordWriter.open(path, { count });
        const sample = new Uint8Array(100_000).fill(1);
        for (let i = 0; i < 8; i++) await writer.write(sample);
        await assert.rejects(async () => {
          for (;;) await writer.write(sample);
        }, full);
        writer.abort();
        assert.deepEqual(fs.readdirSync(dir), ["a.ffr"]);
        assertSameBytes(path, OLD);
      }

      const filler = `${dir}/filler`;
      fs.writeFileSync(filler, new Uint8Array(1_200_000));
      await using writer = await FFRecordWriter.open(path);
      const sample = new Uint8Array(1_200_000).fill(2);
      await writer.write(ONE);
      await assert.rejects(writer.write(sample), full);
      assert.equal(writer.length, 1);
      fs.unlinkSync(filler);
      assert.equal(await writer.write(sample), 1);
      await writer.close();
      assertSameBytes(path, ffrBytes([ONE, sample]));

      // Data of a failed write after the samples is truncated.
      fs.unlinkSync(path);
      fs.writeFileSync(filler, new Uint8Array(1_300_000));
      for (const count of [2, undefined]) {
        using cut = FFRecordWriter.openSync(path, { count });
        cut.writeSync(ONE);
        assert.throws(() => cut.writeSync(new Uint8Array(900_000)), full);
        cut.writeSync(Uint8Array.of(2));
        cut.closeSync();
        assertSameBytes(path, ffrBytes([ONE, Uint8Array.of(2)]));
      }
      fs.unlinkSync(filler);

      // Room for the samples, but not for samples and tables.
      fs.unlinkSync(path);
      using many = FFRecordWriter.openSync(path);
      assert.throws(() => {
        for (let i = 0; i < 200_000; i++) many.writeSync(ONE);
        many.closeSync();
      }, full);
      many.abort();
      assert.deepEqual(fs.readdirSync(dir), []);
    });
  },
});

Deno.test({
  name: "a read-only file system is reported, at the start and in the middle",
  ...needs("root"),
  async fn() {
    await withTmpfs("8m", async (dir, remount) => {
      const path = `${dir}/a.ffr`;
      fs.writeFileSync(path, OLD);
      await remount("ro");
      const readOnly = {
        name: "WriteError",
        code: "EROFS",
        message: /read-only/,
      };
      await assert.rejects(FFRecordWriter.open(path), readOnly);
      await assert.rejects(FFRecordWriter.open(`${dir}/new.ffr`), readOnly);
      assertSameBytes(path, OLD);
    });
  },
});

Deno.test("a file beyond the size limit is reported", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { FFRecordWriter } from "${REPOSITORY}src/formats/ffrecord/mod.ts";
      using writer = FFRecordWriter.openSync("${dir}/a.ffr");
      try {
        for (;;) writer.writeSync(new Uint8Array(1_000_000));
      } catch (error) {
        console.log(error.name, error.code);
      }`;
    fs.writeFileSync(`${dir}/script.ts`, script);
    // Without the trap, SIGXFSZ ends the process, as it would any other.
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", 'trap "" XFSZ; ulimit -f 9000; exec "$@"', "sh"]
        .concat(Deno.execPath(), "run", "-A", `${dir}/script.ts`),
    }).output();
    assert.equal(new TextDecoder().decode(stdout), "WriteError EFBIG\n");
    assert.deepEqual(fs.readdirSync(dir), ["script.ts"]);
  });
});

/** Writes files of one repeated value without end, and reports the first one. */
const WRITE_FOR_EVER = `
import { FFRecordWriter } from "${REPOSITORY}src/formats/ffrecord/mod.ts";
for (let round = 1; ; round++) {
  const sample = new Uint8Array(60_000).fill(round);
  const counted = round % 2 === 1 ? { count: 50 } : {};
  await using writer = await FFRecordWriter.open(Deno.args[0], counted);
  for (let i = 0; i < 50; i++) await writer.write(sample);
  await writer.close();
  if (round === 1) console.log("there");
}`;

Deno.test("a killed process leaves the file complete or absent", async () => {
  await withTempDir(async (dir) => {
    const script = `${dir}/write.ts`;
    fs.writeFileSync(script, WRITE_FOR_EVER);
    for (let kill = 0; kill < (LONG ? 8 : 3); kill++) {
      const path = `${dir}/a${kill}.ffr`;
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--quiet", "--config", `${REPOSITORY}deno.json`]
          .concat(script, path),
        stdout: "piped",
      }).spawn();
      const output = child.stdout.getReader();
      // The first time, the process is killed before there is a file.
      if (kill > 0) {
        await output.read();
        await setTimeout(Math.random() * 150);
      } else {
        while (!fs.readdirSync(dir).some((name) => name.includes(".part"))) {
          await setTimeout(1);
        }
      }
      child.kill("SIGKILL");
      await child.status;
      await output.cancel();
      if (kill === 0 && !fs.existsSync(path)) continue;
      using reader = FFRecordReader.openSync(path);
      assert.equal(reader.length, 50);
      const round = reader.readOneSync(0)[0]!;
      for (let i = 0; i < reader.length; i++) {
        assert.ok(reader.readOneSync(i).every((byte) => byte === round));
      }
    }
    const names = fs.readdirSync(dir).filter((name) => name !== "write.ts");
    for (const name of names) {
      assert.match(name, /^(a\d\.ffr|\.a\d\.ffr\.recordfs-\d+-\d+\.part)$/);
    }
  });
});

Deno.test("write errors are RecordfsErrors that name the file", async () => {
  await withTempDir(async (dir) => {
    await assert.rejects(FFRecordWriter.open(`${dir}/no/a.ffr`), (error) => {
      assert.ok(error instanceof WriteError);
      assert.ok(error instanceof RecordfsError);
      assert.equal(error.path, `${dir}/no/a.ffr`);
      return true;
    });
  });
});
