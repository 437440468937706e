/** Tars that recordfs writes, read by Python's tarfile and by recordfs. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../../../src/open/convert/convert.ts";
import { TarWriter } from "../../../../src/formats/tar/mod.ts";
import { check, open } from "../../../../src/open/open.ts";
import { output } from "../../../fuse/support/mounting.ts";
import { memberHeader } from "../../../../src/base/tar_header.ts";
import { filePaths } from "../../../support/file_paths.ts";
import { withTempDir } from "../../../support/paths.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";
import { openWebDataset } from "../../../support/tar/open_web.ts";
import { tarCase } from "../../../support/tar/tar_golden.ts";

/** Prints the content of a tar, as Python's tarfile reads it. */
const LIST = `
import hashlib, json, sys, tarfile
found = []
with tarfile.open(sys.argv[1]) as tar:
    for member in tar:
        data = tar.extractfile(member).read() if member.isreg() else None
        found.append([member.name, None if data is None else data.decode("latin1"), int(member.mtime)])
print(json.dumps(found))
`;

async function byPython(path: string): Promise<[string, string, number][]> {
  const { code, stdout, stderr } = await output(PYTHON, "-c", LIST, path);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function requireSound(path: string): Promise<void> {
  const onDamage = (damage: Error) => assert.fail(damage.message);
  await check(path, { onDamage });
}

const text = (value: string) => new TextEncoder().encode(value);

Deno.test({
  name:
    "Python reads the output: long names, names that are not UTF-8, streams, directories",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const path = `${dir}/a.tar`;
      const long = `${"directory/".repeat(30)}${"n".repeat(150)}.txt`;
      const hundred = "h".repeat(100);
      const mtime = new Date(1_234_567_890_000);
      async function* stream() {
        yield text("a ");
        yield text("stream");
      }
      await using writer = await TarWriter.open(path);
      await writer.write("a.txt", text("1"), { mtime });
      await writer.write(long, text("long"), { mtime });
      await writer.write(hundred, text("100"), { mtime });
      await writer.write("b\udcff", stream(), { mtime, size: 8 });
      await writer.makeDirectory("empty", { mtime });
      await writer.write("large", new Uint8Array(3 << 20).fill(65), { mtime });
      assert.deepEqual(fs.existsSync(path), false);
      await writer.close();
      const seconds = mtime.getTime() / 1000;
      const found = await byPython(path);
      assert.equal(found.pop()![1].length, 3 << 20);
      assert.deepEqual(found, [
        ["a.txt", "1", seconds],
        [long, "long", seconds],
        [hundred, "100", seconds],
        ["b\udcff", "a stream", seconds],
        ["empty", null, seconds],
      ]);
      await requireSound(path);
      using written = await open(path);
      assert.deepEqual(filePaths(written), [
        "a.txt",
        long,
        hundred,
        "b\udcff",
        "large",
      ]);
      assert.equal(fs.statSync(path).size % 10_240, 0);
    }),
});

Deno.test("an invalid member is rejected, and an unclosed writer leaves nothing behind", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/a.tar`;
    {
      await using writer = await TarWriter.open(path);
      await writer.write("a", text("1"));
    }
    assert.deepEqual(fs.readdirSync(dir), []);
    await using writer = await TarWriter.open(path);
    for (
      const name of ["", "/a", "a/../b", "a//b", "a\0", "d/", ".", "a/.", ".."]
    ) {
      await assert.rejects(writer.write(name, text("1")), TypeError, name);
    }
    for (const name of ["", "/", "a//b", "../a"]) {
      await assert.rejects(writer.makeDirectory(name), TypeError, name);
    }
    await assert.rejects(
      writer.write("a", text("1"), { mtime: new Date(NaN) }),
      /time of 'a' must be a valid date/,
    );
    await assert.rejects(
      writer.write("a", text("1"), { signal: AbortSignal.abort() }),
      { name: "AbortError" },
    );
    async function* short() {
      yield text("1");
    }
    await assert.rejects(
      writer.write("a", short()),
      /size of 'a' must be given/,
    );
    await assert.rejects(
      writer.write("a", short(), { size: 2 }),
      /must give the 2 bytes/,
    );
    await assert.rejects(
      writer.write("a", short(), { size: 0 }),
      /must give the 0 bytes/,
    );
    async function* broken() {
      yield new Uint8Array(3 << 20);
      throw new Error("the source broke");
    }
    await assert.rejects(
      writer.write("a", broken(), { size: 4 << 20 }),
      /the source broke/,
    );
    // All of these left the tar unchanged, and writing continues.
    assert.equal(writer.size, 0);
    await writer.write("./b", text("1"));
    await writer.makeDirectory(".");
    await writer.close();
    using written = await open(path);
    assert.deepEqual(filePaths(written), ["b"]);
    await requireSound(path);
    await assert.rejects(writer.write("c", text("1")), { code: "closed" });
  }));

Deno.test("writes that are not awaited keep their order, and close() waits for them", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/a.tar`;
    await using writer = await TarWriter.open(path);
    const sizes = [4, 20 << 20, 7, 0, 64 << 10, (64 << 10) + 1, 1 << 20, 513];
    async function* stream() {
      for (let i = 0; i < 5; i++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield new Uint8Array(1000).fill(99);
      }
    }
    const small = text("as it was");
    const writing = [
      ...sizes.map((size, i) =>
        writer.write(`${i}`, new Uint8Array(size).fill(i + 1))
      ),
      writer.write("stream", stream(), { size: 5000 }),
      writer.write("blob", new Blob(["blob"])),
      writer.makeDirectory("empty"),
      writer.write("small", small),
    ];
    small.fill(0);
    await writer.close();
    await Promise.all(writing);
    await requireSound(path);
    using written = await open(path);
    const numbers = sizes.map((_, i) => `${i}`);
    assert.deepEqual(filePaths(written), [
      ...numbers,
      "stream",
      "blob",
      "small",
    ]);
    for (const [i, size] of sizes.entries()) {
      const bytes = await written.read(`${i}`);
      assert.equal(bytes.length, size);
      assert.ok(bytes.every((byte) => byte === i + 1));
    }
    assert.deepEqual(
      await written.read("stream"),
      new Uint8Array(5000).fill(99),
    );
    assert.deepEqual(await written.read("blob"), text("blob"));
    assert.deepEqual(await written.read("small"), text("as it was"));
  }));

Deno.test("members are written synchronously as well", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/a.tar`;
    using writer = TarWriter.openSync(path);
    writer.writeSync("a", text("1"), { mtime: new Date(5000) });
    writer.writeSync("large", new Uint8Array(3 << 20).fill(7));
    assert.throws(
      () => writer.writeSync("b", new Blob([]) as never),
      TypeError,
    );
    const pending = writer.write("p", new Uint8Array(2 << 20));
    assert.throws(() => writer.writeSync("b", text("1")), { code: "busy" });
    await pending;
    writer.closeSync();
    using written = await open(path);
    assert.deepEqual(filePaths(written), ["a", "large", "p"]);
    await requireSound(path);
  }));

Deno.test({
  name: "any container becomes a tar, or shards that split no sample",
  ...needs("python3"),
  fn: () =>
    withTempDir(async (dir) => {
      const { path, content: { entries } } = tarCase("webdataset");
      await convert(path, `${dir}/one.tar`);
      using before = await open(path);
      using one = await open(`${dir}/one.tar`);
      const paths = entries.map(({ path }) => path);
      assert.deepEqual(await one.read(paths), await before.read(paths));
      assert.deepEqual(one.info.facts, { samples: 12 });
      const python = await byPython(`${dir}/one.tar`);
      assert.deepEqual(
        python.map(([name]) => name).filter((name) => name !== "train"),
        paths,
      );

      await convert(path, `${dir}/length`, { to: "tar", shardLength: 5 });
      assert.deepEqual(fs.readdirSync(`${dir}/length`).sort(), [
        ...["length-000000.tar", "length-000001.tar", "length-000002.tar"],
      ]);
      using dataset = await openWebDataset(`${dir}/length`);
      const all = await dataset.get([0, 4, 5, 11]);
      assert.deepEqual(all.map(({ cls }) => cls), [0, 4, 5, 11]);
      assert.equal(dataset.length, 12);
      const last = await byPython(`${dir}/length/length-000002.tar`);
      assert.equal(last.length, 10);

      await convert(path, `${dir}/size`, { to: "tar", shardSize: 6000 });
      for (const name of fs.readdirSync(`${dir}/size`)) {
        using shard = await open(`${dir}/size/${name}`);
        assert.equal(shard.info.files, 5 * shard.info.facts!["samples"]!);
        await requireSound(`${dir}/size/${name}`);
      }
      await assert.rejects(
        convert(path, `${dir}/other`, { to: "tar" }),
        /name of a tar must end in \.tar/,
      );
    }),
});

/** Prints headers as Python's tarfile reads them, with checksums verified. */
const READ_HEADERS = `
import json, sys, tarfile
found = []
for line in sys.stdin:
    member = tarfile.TarInfo.frombuf(bytes.fromhex(line), "utf-8", "surrogateescape")
    found.append([member.name, member.size, member.mtime, member.mode, member.isdir(), member.uid])
print(json.dumps(found))
`;

Deno.test({
  name: "Python reads headers of any size and time",
  ...needs("python3"),
  async fn() {
    const sizes = [0, 1, 7, 8, 8 ** 11 - 1, 8 ** 11, 8 ** 11 + 5, 2 ** 53 - 1];
    const times = [0, 1, 1_234_567_890, 8 ** 11 - 1, 8 ** 11];
    const heads = sizes.flatMap((size) =>
      times.map((time) => ({ name: `${size} ${time}`, size, time }))
    );
    const lines = heads.flatMap(({ name, size, time }) => {
      const member = { name: text(name), size, mtime: time * 1000 + 999 };
      return [false, true].map((isDirectory) =>
        memberHeader(member, isDirectory).toHex()
      );
    });
    const child = new Deno.Command(PYTHON, {
      args: ["-c", READ_HEADERS],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    await new Blob([lines.join("\n")]).stream().pipeTo(child.stdin);
    const { stdout } = await child.output();
    assert.deepEqual(
      JSON.parse(new TextDecoder().decode(stdout)),
      heads.flatMap(({ name, size, time }) => [
        [name, size, time, 0o644, false, 0],
        [name, size, time, 0o755, true, 0],
      ]),
    );
  },
});
