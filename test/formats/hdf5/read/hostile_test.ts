/** Files that lead elsewhere, count what they have not, or are damaged. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FormatError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { hdf5Case } from "../../../support/hdf5/hdf5_golden.ts";

const quiet = { onWarning() {} };

Deno.test("what refers to other files, or is not supported, is refused by name and never followed", async () => {
  const { path, unreadable } = hdf5Case("hostile");
  await withTempDir(async (dir) => {
    // The files that it refers to are there.
    fs.copyFileSync(path, `${dir}/a.h5`);
    fs.copyFileSync(hdf5Case("rows").path, `${dir}/other.h5`);
    using shown = await open(`${dir}/a.h5`, quiet);
    for (const [name, reason] of Object.entries(unreadable!)) {
      await assert.rejects(shown.read(name), (error: unknown) => {
        assert.ok(error instanceof FormatError, `${error}`);
        assert.ok(error.message.includes(reason), error.message);
        return true;
      });
    }
    assert.equal((await shown.read("sound.npy")).length, 128 + 16);
    const { damaged } = await check(`${dir}/a.h5`, quiet);
    assert.equal(damaged, Object.keys(unreadable!).length);
  });
});

Deno.test("soft links and hard links that make a circle end", async () => {
  using shown = await open(hdf5Case("hostile").path, quiet);
  const paths = await Array.fromAsync(shown.walk(""), ({ path }) => path);
  assert.equal((await shown.stat("up/up/up/sound.npy")).size, 128 + 16);
  assert.ok(paths.includes("group"), `${paths}`);
  assert.ok(!paths.some((path) => path.startsWith("group/")), `${paths}`);
});

/** Opens a container and reads all of it; returns what it throws. */
async function readAll(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  using shown = await open({ "a.h5": bytes }["a.h5"]!, {
    ...quiet,
    format: "hdf5",
  });
  for await (const entry of shown.walk("")) {
    if (entry.isFile) await shown.read(entry.path);
  }
}

Deno.test("a cut file is refused", async () => {
  const whole = fs.readFileSync(hdf5Case("small").path);
  for (let length = 0; length < whole.length; length += 997) {
    await assert.rejects(readAll(whole.slice(0, length)), FormatError);
  }
});

Deno.test("a changed byte leads to values or a FormatError, and other files are read as before", async () => {
  for (const name of ["small", "groups", "types"]) {
    const whole = fs.readFileSync(hdf5Case(name).path);
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 30)) {
      const changed = whole.slice();
      changed[at]! ^= 1 << at % 8;
      try {
        await readAll(changed);
      } catch (error) {
        assert.ok(error instanceof FormatError, `${name} ${at}: ${error}`);
      }
    }
  }
  using after = await open(hdf5Case("rows").path, quiet);
  assert.ok(after.info.files > 0);
});

Deno.test("a heap in which the library would go on for ever is refused", async () => {
  const whole = new Uint8Array(fs.readFileSync(hdf5Case("rows").path));
  const heap = new TextDecoder("latin1").decode(whole).indexOf("GCOL") + 16;
  assert.ok(heap > 16);
  // Free space of no size, and an object whose size does not fit 32 bits.
  for (const [index, size] of [[0, 0n], [1, 0xff_ffff_fff0n]] as const) {
    const bytes = whole.slice();
    const view = new DataView(bytes.buffer);
    view.setUint16(heap, index, true);
    view.setBigUint64(heap + 8, size, true);
    using shown = await open(bytes, { ...quiet, format: "hdf5" });
    await assert.rejects(shown.read("words.json"), FormatError);
    assert.ok((await shown.read("labels.npy")).length > 0);
  }
});

Deno.test("a file without datasets is empty", async () => {
  using shown = await open(hdf5Case("empty").path, quiet);
  assert.deepEqual([await shown.list("/"), shown.info.kind], [[], "arrays"]);
});

/** Bytes of a structure: numbers of 8 bytes, and text. */
function bytesOf(...parts: (bigint | number | string)[]): number[] {
  return parts.flatMap((part) => {
    if (typeof part === "string") {
      return [...part].map((char) => char.charCodeAt(0));
    }
    if (typeof part === "number") return [part];
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, part, true);
    return [...bytes];
  });
}

/** Makes a file whose root has links in a B-tree and a local heap. Both are given as bytes at addresses. */
function rootFile(
  heapSize: number,
  structures: ReadonlyMap<number, readonly number[]>,
): Uint8Array<ArrayBuffer> {
  const size = 1 << 20;
  const file = new Uint8Array(size);
  const [none, tree, heap] = [2n ** 64n - 1n, 512n, 256n];
  const put = (at: number, bytes: readonly number[]) => file.set(bytes, at);
  const versions = [0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0];
  put(0, bytesOf("\x89HDF\r\n\x1a\n", ...versions));
  put(24, bytesOf(0n, none, BigInt(size), none, 0n, 128n));
  // The header of the root, with one message.
  put(128, [1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0]);
  put(144, bytesOf(0x11, 0, 16, 0, 0, 0, 0, 0, tree, heap));
  put(256, bytesOf("HEAP", 0, 0, 0, 0, BigInt(heapSize), none, 65_536n));
  for (const [at, bytes] of structures) put(at, bytes);
  return file;
}

function node(level: number, children: readonly number[]): number[] {
  const [none, count] = [2n ** 64n - 1n, children.length];
  const head = [0, level, count & 0xff, count >> 8];
  const entries = children.flatMap((child) => [0n, BigInt(child)]);
  return bytesOf("TREE", ...head, none, none, ...entries, 0n);
}

async function refuses(
  bytes: Uint8Array<ArrayBuffer>,
  reason: RegExp,
): Promise<void> {
  await assert.rejects(
    open(bytes, { ...quiet, format: "hdf5" }),
    (error: unknown) => {
      assert.ok(error instanceof FormatError, `${error}`);
      assert.match(error.message, reason);
      return true;
    },
  );
}

Deno.test("a B-tree whose nodes have the same children is refused before all ways through it are gone", async () => {
  const levels = new Map<number, number[]>();
  for (let level = 12; level > 0; level--) {
    const at = 512 + (12 - level) * 2048;
    levels.set(at, node(level, Array(60).fill(at + 2048)));
  }
  levels.set(512 + 12 * 2048, node(0, []));
  await refuses(rootFile(8, levels), /structures that overlap/);
});

Deno.test("a B-tree that leads to itself is refused", async () => {
  await refuses(
    rootFile(8, new Map([[512, node(1, [512])]])),
    /B-tree of a wrong form/,
  );
});

Deno.test("links that share a long name are refused before they are sorted, or their paths fill the memory", async () => {
  const structures = new Map<number, number[]>();
  const name = Array<number>(60_000).fill(0x61);
  structures.set(65_536, name);
  const nodes: number[] = [];
  for (let i = 0; i < 400; i++) {
    const at = 140_000 + i * 1024;
    const links = Array(24).fill([0n, 128n, 0n, 0n, 0n]).flat();
    structures.set(at, bytesOf("SNOD", 1, 0, 24, 0, ...links));
    nodes.push(at);
  }
  structures.set(512, node(0, nodes));
  await refuses(rootFile(65_536, structures), /structures that overlap/);
});
