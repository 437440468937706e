import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError, PathError } from "../../../../src/base/errors.ts";
import { PackedFolder } from "../../../../src/formats/ffrecord/mod.ts";
import { goldenCase, sha256 } from "../../../support/golden.ts";
import { ffrBytes, packedSamples } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";

const text = (value: string) => new TextEncoder().encode(value);

Deno.test("a folder in several parts is read like Python reads a directory", async () => {
  await withTempDir(async (dir) => {
    const samples = packedSamples({
      a: { x: text("1"), y: text("2") },
      b: text("3"),
    });
    fs.writeFileSync(`${dir}/PART_0.ffr`, ffrBytes(samples.slice(0, 1)));
    fs.writeFileSync(`${dir}/PART_1.ffr`, ffrBytes([]));
    fs.writeFileSync(`${dir}/PART_2.ffr`, ffrBytes(samples.slice(1)));
    using folder = await PackedFolder.open(dir);
    assert.equal(folder.numFiles, 3);
    assert.deepEqual(folder.list("/"), ["a", "b"]);
    assert.deepEqual(folder.list("/a/"), ["x", "y"]);
    assert.deepEqual(folder.list("", { recursive: true }), [
      "a",
      "a/x",
      "a/y",
      "b",
    ]);
    const contents = await folder.read(["b", "a/y", "a/x"]);
    assert.deepEqual(contents, [text("3"), text("2"), text("1")]);
  });
});

Deno.test("missing paths are named", async () => {
  const tree = goldenCase("ffrecord/packed_tree");
  using folder = await PackedFolder.open(tree.path);
  const refusal = (code: PathError["code"], path: string) => (error: unknown) =>
    error instanceof PathError && error.code === code && error.path === path &&
    error.message.includes(`'${path}'`) && error.message.includes(tree.path);
  await assert.rejects(folder.read("no such"), refusal("not-found", "no such"));
  await assert.rejects(folder.read("words"), refusal("is-directory", "words"));
  await assert.rejects(
    folder.read(["Upper", "/x"]),
    refusal("not-found", "/x"),
  );
  assert.throws(
    () => folder.readSync("words/.."),
    refusal("not-found", "words/.."),
  );
  assert.throws(() => folder.list("nowhere"), refusal("not-found", "nowhere"));
  assert.throws(() => folder.list("Upper"), refusal("not-directory", "Upper"));
});

Deno.test("an unsorted structure is found and listed as well", async () => {
  await withTempDir((dir) => {
    const names = ["m", "b", "é", "z", "a", "Z", "aa"];
    const pickle = pickleInOrder(names);
    const samples = [...names.map(text), pickle];
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
    using folder = PackedFolder.openSync(`${dir}/a.ffr`);
    assert.deepEqual(folder.list(), names);
    for (const name of names) {
      assert.deepEqual(folder.readSync(name), text(name));
    }
    assert.equal(folder.exists("n"), false);
  });
});

Deno.test("the same name twice in one folder is damage", async () => {
  await withTempDir((dir) => {
    for (const names of [["a", "a"], ["a", "b", "a"]]) {
      const samples = [...names.map(text), pickleInOrder(names)];
      fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
      assert.throws(
        () => PackedFolder.openSync(`${dir}/a.ffr`),
        (error) =>
          error instanceof FormatError && error.code === "bad-structure" &&
          error.message.includes("twice"),
      );
    }
  });
});

Deno.test("a name that is truncated inside a character is rejected, also after a similar one", async () => {
  await withTempDir((dir) => {
    for (const last of [[0xc3], [0xc3, 0x28], [0xe9, 0x61]]) {
      const names = [Uint8Array.of(0xc3, 0xa9), Uint8Array.from(last)];
      const samples = [text("1"), text("2"), pickleInOrder(names)];
      fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
      assert.throws(
        () => PackedFolder.openSync(`${dir}/a.ffr`),
        (error) => error instanceof FormatError && error.code === "bad-pickle",
      );
    }
  });
});

Deno.test("protocol 0 names that are not UTF-8 are restored", async () => {
  await withTempDir((dir) => {
    const names = ["\udcff", "\u00e9\udc80", "z"];
    // UNICODE opcodes: raw-unicode-escape lines, as Python's pickler writes them
    const pickle = "(" + names.map((name, i) =>
      `V${
        [...name].map((char) =>
          `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
        ).join("")
      }\nI${i}\n`
    ).join("") + "d.";
    const samples = [...names.map(text), text(`piouhjgbr${pickle}`)];
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes(samples));
    using folder = PackedFolder.openSync(`${dir}/a.ffr`);
    assert.deepEqual(folder.list(), names);
    for (const name of names) {
      assert.deepEqual(folder.readSync(name), text(name));
    }
  });
});

Deno.test("a damaged file is rejected, or read unchecked on request", async () => {
  await withTempDir(async (dir) => {
    const bytes = ffrBytes(packedSamples({ a: text("good"), b: text("also") }));
    const at = bytes.length -
      packedSamples({ a: text("good"), b: text("also") })
        .at(-1)!.length -
      1;
    bytes[at]! ^= 1;
    fs.writeFileSync(`${dir}/a.ffr`, bytes);
    using folder = await PackedFolder.open(`${dir}/a.ffr`);
    assert.deepEqual(await folder.read("a"), text("good"));
    await assert.rejects(
      folder.read(["a", "b"]),
      (error) => error instanceof FormatError && error.sample === 1,
    );
    using careless = await PackedFolder.open(`${dir}/a.ffr`, {
      checkData: false,
    });
    assert.equal(
      sha256(await careless.read("b")),
      sha256(bytes.slice(at - 3, at + 1)),
    );
  });
});

/** Returns a structure with names in this order. */
function pickleInOrder(names: readonly (string | Uint8Array)[]): Uint8Array {
  const parts: Uint8Array[] = [text("piouhjgbr"), Uint8Array.of(0x80, 2)];
  parts.push(text("ccollections\nOrderedDict\n)R("));
  names.forEach((name, i) => {
    const bytes = typeof name === "string" ? text(name) : name;
    parts.push(text("X"), Uint8Array.of(bytes.length, 0, 0, 0), bytes);
    parts.push(text("K"), Uint8Array.of(i));
  });
  parts.push(text("u."));
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
