/** The option `nested`: containers in directories, buckets and containers as directories. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { gzipSync } from "node:zlib";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import { runAsync, runSync } from "../../src/io/concurrency/steps.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { LOCAL_DISK, type Storage } from "../../src/io/storage/storage.ts";
import { openNested } from "../../src/open/nested_tree/open_nested.ts";
import { open } from "../../src/open/open.ts";
import { openSync } from "../../src/open/mod.ts";
import { reopenHandle } from "../../src/tree/tree.ts";
import { VirtualFs } from "../../src/tree/vfs/virtual_fs.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { slowStorage } from "../support/slow_storage.ts";
import { type Member, tarBytes } from "../support/tar/make_tar.ts";
import { makeZip } from "../support/zip/make_zip.ts";

const GOLDEN = `${REPOSITORY}test/golden`;
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const tar = (...members: readonly Member[]) => tarBytes(members);
const hello = tar({ name: "hello.txt", data: "hello" });
const zipped = makeZip([
  { name: "in.tar", data: hello },
  { name: "deflated.tar", data: hello, method: 8 },
  { name: "plain.txt", data: "plain ".repeat(1000), method: 8 },
]);

type Files = Record<string, Uint8Array | string>;

/** Writes files, with their directories. */
function write(dir: string, files: Files): void {
  for (const [path, data] of Object.entries(files)) {
    fs.mkdirSync(`${dir}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    fs.writeFileSync(`${dir}/${path}`, data);
  }
}

/** Paths of all files and directories, with the contents of files; an error instead for what cannot be listed. */
async function shown(vfs: VirtualFs): Promise<Record<string, string | null>> {
  const found: Record<string, string | null> = {};
  const onDamage = (error: FormatError, path: string) =>
    void (found[path] = error.code);
  for await (const entry of vfs.walk("", { onDamage })) {
    found[entry.path] ??= entry.isFile ? text(await vfs.read(entry)) : null;
  }
  return found;
}

const MIXED: Files = {
  "a.tar": hello,
  "b/c.tar.gz": gzipSync(tar({ name: "z.zip", data: zipped })),
  "b/plain.txt": "in a directory",
  "bad.zip": "no zip",
  "empty": "",
};

const plain = "plain ".repeat(1000);

const MIXED_SHOWN = {
  "a.tar": null,
  "a.tar/hello.txt": "hello",
  "b": null,
  "b/c.tar.gz": null,
  "b/c.tar.gz/z.zip": null,
  "b/c.tar.gz/z.zip/deflated.tar": null,
  "b/c.tar.gz/z.zip/deflated.tar/hello.txt": "hello",
  "b/c.tar.gz/z.zip/in.tar": null,
  "b/c.tar.gz/z.zip/in.tar/hello.txt": "hello",
  "b/c.tar.gz/z.zip/plain.txt": plain,
  "b/plain.txt": "in a directory",
  "bad.zip": "truncated",
  "empty": "",
};

Deno.test("containers at any depth are directories, in directories and in containers", async () => {
  await withTempDir(async (dir) => {
    write(dir, MIXED);
    using directory = await open(dir, { nested: true });
    assert.deepEqual(await shown(directory), {
      ...MIXED_SHOWN,
      "bad.zip": await codeOf(() => open(`${dir}/bad.zip`)),
    });
    const { format, files, directories, bytes } = directory.info;
    assert.deepEqual([format, files, directories], ["directory", 5, 1]);
    const size = Object.values(MIXED).reduce(
      (sum, { length }) => sum + length,
      0,
    );
    assert.equal(bytes, size);
    using now = openSync(dir, { nested: true });
    for (const entry of now.walkSync("", { onDamage() {} })) {
      if (entry.isDirectory) continue;
      assert.deepEqual(now.readSync(entry), await directory.read(entry));
      assert.equal(now.statSync(entry.path).ino, entry.ino);
    }
    const members = Object.entries(MIXED)
      .map(([name, data]) => ({ name, data }));
    fs.writeFileSync(`${dir}/all.tar`, tar(...members));
    for (
      const location of [`${dir}/all.tar`, new URL(`file://${dir}/all.tar`)]
    ) {
      using container = await open(location, { nested: true });
      assert.deepEqual(await shown(container), await shown(directory));
    }
    using memory = await open(tar(...members), { nested: true });
    assert.deepEqual(await shown(memory), await shown(directory));
    using stripped = await open(dir, { nested: true, stripSuffix: true });
    assert.equal(
      text(await stripped.read("all/b/c/z/deflated/hello.txt")),
      "hello",
    );
  });
});

async function codeOf(call: () => Promise<unknown>): Promise<string> {
  let code = "";
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof RecordfsError);
    code = error.code;
    return true;
  });
  return code;
}

Deno.test("what is nested reads as what is opened by its path", async () => {
  await withTempDir(async (dir) => {
    write(dir, {
      "o.tar": tar(
        {
          name: "p.ffr",
          data: fs.readFileSync(`${GOLDEN}/ffrecord/packed_tree/sample_10.ffr`),
        },
        { name: "d/z.zip", data: zipped },
      ),
    });
    using nested = await open(dir, { nested: true });
    for (const inner of ["p.ffr", "d/z.zip", "d/z.zip/in.tar"]) {
      const path = `${dir}/o.tar!/${inner.replace("zip/", "zip!/")}`;
      using direct = await open(path);
      const below: Record<string, string> = {};
      for await (const entry of direct.walk("")) {
        if (!entry.isFile) continue;
        const at = `o.tar/${inner}/${entry.path}`;
        if (await nested.isDir(at)) continue; // nested in turn
        assert.deepEqual(await nested.read(at), await direct.read(entry));
        assert.deepEqual(
          (await nested.stat(at)).size,
          (await direct.stat(entry)).size,
        );
        below[at] = "";
      }
      assert.ok(Object.keys(below).length > 0, inner);
    }
  });
});

/** A storage that notes which files are opened. */
function counting(inner: Storage): Storage & { readonly opened: string[] } {
  const opened: string[] = [];
  return {
    opened,
    open(path, options) {
      opened.push(path);
      return inner.open(path, options);
    },
    list: (path) => inner.list(path),
    stat: (path) => inner.stat(path),
  };
}

Deno.test("listing and stat open nothing, and one lookup opens one container", async () => {
  await withTempDir(async (dir) => {
    write(dir, MIXED);
    const storage = counting(LOCAL_DISK);
    using vfs = await open(dir, { nested: true, storage });
    for (const name of await vfs.list("")) {
      await vfs.stat(name);
      await vfs.isDir(name);
    }
    for await (const _ of vfs.walk("", { maxDepth: 1 }));
    assert.equal((await vfs.stat("a.tar")).size, 0);
    assert.deepEqual(storage.opened, []);
    assert.equal(await vfs.exists("a.tar/none"), false);
    assert.deepEqual(new Set(storage.opened), new Set([`${dir}/a.tar`]));
  });
});

Deno.test("few are open at a time: ids and open streams survive, in any order", async () => {
  await withTempDir(async (dir) => {
    const count = 12;
    for (let i = 0; i < count; i++) {
      write(dir, {
        [`${i}.zip`]: makeZip([
          {
            name: "t.tar",
            data: tar({ name: "f", data: `${i}`.repeat(3e5) }),
            method: i % 2 * 8,
          },
        ]),
      });
    }
    const vfsOf = async (most: number) =>
      new VirtualFs(
        dir,
        await runAsync(openNested(dir, { nested: true }, most)),
        true,
      );
    using few = await vfsOf(2);
    using many = await vfsOf(100);
    const path = (i: number) => `${i}.zip/t.tar/f`;
    const streams = await Promise.all(
      Array.from({ length: count }, (_, i) => few.stream(path(i))),
    );
    for (let i = count - 1; i >= 0; i--) {
      const { ino } = await many.stat(path(i));
      assert.equal((await few.stat(path(i))).ino, ino);
    }
    const contents = await Promise.all(streams.map(async (stream) => {
      return await new Response(
        stream as ReadableStream<Uint8Array<ArrayBuffer>>,
      ).text();
    }));
    for (const [i, content] of contents.entries()) {
      assert.equal(content, `${i}`.repeat(3e5));
    }
    const paths = Array.from({ length: 40 }, (_, i) => path(i * 7 % count));
    const batch = await few.read(paths);
    for (const [i, bytes] of batch.entries()) {
      assert.equal(text(bytes), `${i * 7 % count}`.repeat(3e5));
    }
    const sync = new VirtualFs(
      dir,
      runSync(openNested(dir, { nested: true }, 1)),
      true,
    );
    for (const [i, bytes] of sync.readSync(paths).entries()) {
      assert.deepEqual(bytes, batch[i]);
    }
    sync.close();
  });
});

Deno.test("many callers at once of a storage that answers in any order", async () => {
  await withTempDir(async (dir) => {
    const count = 10;
    for (let i = 0; i < count; i++) {
      const data = tar({ name: "f", data: `${i} `.repeat(1e5) });
      const member = { name: "t.tar", data, method: i % 2 * 8 };
      write(dir, { [`${i}.zip`]: makeZip([member]) });
    }
    const storage = slowStorage(7);
    const container = await runAsync(
      openNested(dir, { nested: true, storage }, 3),
    );
    using vfs = new VirtualFs(dir, container, true);
    const reads = Array.from({ length: 60 }, async (_, k) => {
      const i = k * 7 % count;
      const path = `${i}.zip/t.tar/f`;
      const whole = `${i} `.repeat(1e5);
      assert.deepEqual(await vfs.list(`${i}.zip/t.tar`), ["f"]);
      if (k % 3 === 0) assert.equal(text(await vfs.read(path)), whole);
      else if (k % 3 === 1) {
        const part = await vfs.readRange(path, 1000 * k, 50);
        assert.equal(text(part), whole.slice(1000 * k, 1000 * k + 50));
      } else {
        const stream = await vfs.stream(path);
        const bytes = await Array.fromAsync(stream);
        assert.equal(text(Buffer.concat(bytes)), whole);
      }
    });
    await Promise.all(reads);
  });
});

Deno.test("another thread has the same nodes over the same tables", async () => {
  await withTempDir(async (dir) => {
    write(dir, MIXED);
    fs.writeFileSync(
      `${dir}/all.tar.gz`,
      gzipSync(tar({ name: "z.zip", data: zipped })),
    );
    for (const location of [dir, `${dir}/all.tar.gz`]) {
      using vfs = await open(location, { nested: true });
      const handle = structuredClone(vfs.tree.share());
      const tree = await reopenHandle(handle);
      const { info } = vfs;
      using again = new VirtualFs(location, { tree, info }, true);
      const found = async (vfs: VirtualFs) => {
        const nodes: [path: string, node: number][] = [];
        for await (const { path, ino } of vfs.walk("", { onDamage() {} })) {
          nodes.push([path, ino]);
        }
        return nodes;
      };
      assert.deepEqual(await found(again), await found(vfs));
    }
  });
});

Deno.test("one that is damaged or has changed costs only itself", async () => {
  await withTempDir(async (dir) => {
    write(dir, { ...MIXED, "later.tar": hello, "gone.tar": hello });
    using vfs = await open(dir, { nested: true });
    fs.writeFileSync(
      `${dir}/later.tar`,
      tar({ name: "other.txt", data: "other!" }, { name: "x" }),
    );
    fs.rmSync(`${dir}/gone.tar`);
    fs.writeFileSync(`${dir}/b/plain.txt`, "changed, too");
    for (const name of ["later.tar", "gone.tar"]) {
      assert.ok(await vfs.isDir(name));
      for (let i = 0; i < 2; i++) {
        await assert.rejects(vfs.list(name), { code: "changed" });
        await assert.rejects(vfs.exists(`${name}/hello.txt`), {
          code: "changed",
        });
      }
    }
    await assert.rejects(vfs.read("b/plain.txt"), { code: "changed" });
    await assert.rejects(vfs.list("bad.zip"), (error) => {
      assert.ok(error instanceof FormatError);
      assert.match(error.message, /bad\.zip/);
      return true;
    });
    assert.equal(text(await vfs.read("a.tar/hello.txt")), "hello");
  });
});

Deno.test("what the system does not open costs only itself", async () => {
  await withTempDir(async (dir) => {
    write(dir, { "a.tar": hello });
    new Deno.Command("mkfifo", { args: [`${dir}/pipe.tar`] }).outputSync();
    using vfs = await open(dir, { nested: true });
    await assert.rejects(vfs.list("pipe.tar"), FormatError);
    assert.equal((await shown(vfs))["a.tar/hello.txt"], "hello");
  });
});

Deno.test("eight are in each other; a ninth is a directory that cannot be listed", async () => {
  let bytes = hello;
  for (let depth = 0; depth < 9; depth++) {
    bytes = tar({ name: "o.tar", data: bytes });
  }
  using vfs = await open(bytes, { nested: true });
  const path = (depth: number) => Array(depth).fill("o.tar").join("/");
  assert.deepEqual(await vfs.list(path(7)), ["o.tar"]);
  assert.ok(await vfs.isDir(path(8)));
  const within = await codeOf(() => vfs.list(path(9)));
  assert.equal(within, "unsupported");
});

Deno.test("a bomb is refused by its ratio, and the rest is shown", async () => {
  const bomb = gzipSync(tar({ name: "zeros", data: new Uint8Array(1 << 24) }));
  const storage = new MemoryStorage({
    "r/bomb.tar.gz": bomb,
    "r/a.tar": hello,
  });
  using vfs = await open("r", { storage, nested: true, maxRatio: 100 });
  await assert.rejects(vfs.list("bomb.tar.gz"), FormatError);
  assert.equal(text(await vfs.read("a.tar/hello.txt")), "hello");
  using all = await open("r", { storage, nested: true });
  assert.equal((await all.stat("bomb.tar.gz/zeros")).size, 1 << 24);
});

Deno.test("several, and a directory in a nested container as the root", async () => {
  await withTempDir(async (dir) => {
    write(dir, {
      "one/a.tar": tar({ name: "d/e.zip", data: zipped }),
      "two.zip": makeZip([{ name: "t.tar", data: hello, method: 8 }]),
      "three.ffr": fs.readFileSync(
        `${GOLDEN}/ffrecord/packed_tree/sample_10.ffr`,
      ),
    });
    const all = [`${dir}/one`, `${dir}/two.zip`, `${dir}/three.ffr`];
    using union = await open(all, { nested: true });
    assert.deepEqual(await union.list(""), ["one", "two", "three"]);
    const paths = ["one/a.tar/d/e.zip/in.tar", "two/t.tar"]
      .map((path) => `${path}/hello.txt`);
    assert.deepEqual((await union.read(paths)).map(text), ["hello", "hello"]);
    assert.equal((await union.read("three/...")).length, 28);
    for (const prefix of ["one/a.tar/d", "one/a.tar/d/e.zip"]) {
      using part = await open(all, { nested: true, prefix });
      const path = `one/a.tar/d/e.zip/plain.txt`.slice(prefix.length + 1);
      assert.equal(text(await part.read(path)), plain);
    }
  });
});
