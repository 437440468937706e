import assert from "node:assert/strict";
import {
  findMount,
  isNotConnected,
  readMounts,
} from "../../fuse/mounting/mountinfo.ts";
import { mountTree } from "../../fuse/mount.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import { type Folder, MemoryTree, MTIME } from "./support/memory_tree.ts";
import {
  mountTest,
  output,
  withMount,
  withMountpoint,
} from "./support/mounting.ts";
import { settled } from "./support/settled.ts";

const big = "0123456789abcdef".repeat(200_000); // 3.2 MB: many READs
const folder: Folder = {
  "a.txt": "hello",
  empty: "",
  "with space": "x",
  sub: { deep: { c: { kind: "computed", text: "computed" } } },
  big,
  bad: { kind: "damaged", message: "sample 9 is damaged" },
};

mountTest(
  "a mounted tree is read, listed and described exactly",
  () =>
    withMount(MemoryTree.of(folder), { uid: 12, gid: 34 }, async (mount) => {
      const at = (path: string) => `${mount.mountpoint}/${path}`;
      assert.equal(await Deno.readTextFile(at("a.txt")), "hello");
      assert.equal(await Deno.readTextFile(at("empty")), "");
      assert.equal(await Deno.readTextFile(at("sub/deep/c")), "computed");
      assert.equal(await Deno.readTextFile(at("big")), big);
      const names = await Array.fromAsync(
        Deno.readDir(mount.mountpoint),
        ({ name, isDirectory }) => `${name}${isDirectory ? "/" : ""}`,
      );
      assert.deepEqual(names, [
        ...["a.txt", "empty", "with space", "sub/", "big", "bad"],
      ]);
      const file = await Deno.stat(at("a.txt"));
      assert.deepEqual(
        [file.size, file.mode, file.uid, file.gid, file.nlink, file.ino],
        [5, 0o100644, 12, 34, 1, 2],
      );
      assert.equal(file.mtime?.getTime(), MTIME);
      assert.equal((await Deno.stat(at("sub"))).mode, 0o040755);
    }),
);

mountTest(
  "failures are errors of their kind, and serving continues",
  async () => {
    const logs: string[] = [];
    const onLog = (message: string) => logs.push(message);
    await withMount(MemoryTree.of(folder), { onLog }, async (mount) => {
      const at = (path: string) => `${mount.mountpoint}/${path}`;
      await assert.rejects(Deno.readFile(at("none")), Deno.errors.NotFound);
      await assert.rejects(Deno.readFile(at("bad")), /os error 5/);
      await assert.rejects(
        Deno.writeTextFile(at("new"), ""),
        /Read-only file system/,
      );
      await assert.rejects(
        Deno.open(at("a.txt"), { read: true, write: true }),
        /Read-only file system/,
      );
      assert.equal(await Deno.readTextFile(at("a.txt")), "hello");
    });
    assert.deepEqual(logs, ["sample 9 is damaged"]);
  },
);

mountTest(
  "concurrent readers of large directories each find all entries",
  async () => {
    const files = Object.fromEntries(
      Array.from({ length: 2000 }, (_, i) => [`file ${i}`, `${i}`]),
    );
    const names = Object.keys(files);
    const tree = MemoryTree.of({ a: files, b: files, c: files });
    await withMount(tree, {}, async ({ mountpoint }) => {
      const list = (directory: string) =>
        Array.fromAsync(
          Deno.readDir(`${mountpoint}/${directory}`),
          ({ name }) => name,
        );
      const listed = await Promise.all(["a", "b", "c", "a"].map(list));
      for (const found of listed) assert.deepEqual(found, names);
      for (const i of [0, 999, 1999]) {
        const path = `${mountpoint}/b/file ${i}`;
        assert.equal(await Deno.readTextFile(path), `${i}`);
      }
    });
  },
);

mountTest("the kernel asks once: a second pass sends no request", async () => {
  const lines: string[] = [];
  const files = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`f${i}`, "y".repeat(100_000)]),
  );
  const onTrace = (line: string) => lines.push(line);
  const options = { onTrace, workers: 1 };
  await withMount(MemoryTree.of(files), options, async (mount) => {
    const readAll = async () => {
      for await (const { name } of Deno.readDir(mount.mountpoint)) {
        await Deno.readFile(`${mount.mountpoint}/${name}`);
      }
    };
    const count = (name: string) =>
      lines.filter((line) => line.startsWith(`${name} `)).length;
    await readAll();
    await settled(mount.mountpoint, lines);
    const whole = lines.filter((line) =>
      /^READ .* offset=0 .* bytes=100000$/.test(line)
    );
    assert.equal(whole.length, 50, "one READ for a file of 100 KB");
    assert.equal(count("LOOKUP"), 0, "a listing makes looking up needless");
    assert.equal(count("OPEN"), 1, "the kernel learns to open by itself");
    // Memory reclaim may drop pages between two passes; a wrong invalidation would drop them every time.
    for (let pass = 1;; pass++) {
      const before = lines.length;
      await readAll();
      await settled(mount.mountpoint, lines);
      const asked = lines.slice(before);
      if (asked.length === 0) break;
      assert.ok(
        asked.every((line) => line.startsWith("READ ")) && pass < 5,
        asked.join("\n"),
      );
    }
  });
});

mountTest(
  "mount options reach the kernel",
  () =>
    withMount(MemoryTree.of(folder), {
      allowOther: true,
      noExec: true,
      source: "/data/a,b c",
      maxRead: 65536,
    }, (mount) => {
      const entry = findMount(readMounts(), mount.mountpoint);
      assert.equal(entry?.type, "fuse.recordfs");
      assert.equal(entry?.source, "/data/a,b c");
      for (const option of ["ro", "nosuid", "nodev", "noexec"]) {
        assert.ok(entry?.options.includes(option), option);
      }
      const { superOptions } = entry as { superOptions: readonly string[] };
      assert.ok(superOptions.includes("allow_other"));
      assert.ok(superOptions.includes("default_permissions"));
      assert.ok(superOptions.includes("max_read=65536"));
      return Promise.resolve();
    }),
);

mountTest("as root a sequential reader gets 1 MiB per request", async () => {
  const requests: string[] = [];
  const tree = MemoryTree.of({ long: "0123456789abcdef".repeat(1 << 20) });
  const onTrace = (line: string) => requests.push(line);
  await withMount(tree, { onTrace, workers: 1 }, async ({ mountpoint }) => {
    const { device } = findMount(readMounts(), mountpoint)!;
    const setting = `/sys/class/bdi/${device}/read_ahead_kb`;
    assert.equal(await Deno.readTextFile(setting), "1024\n");
    await Deno.readFile(`${mountpoint}/long`);
    await settled(mountpoint, requests);
  });
  const largest = requests.filter((line) => / size=1048576 /.test(line));
  assert.ok(largest.length > 10, requests.join("\n"));
});

mountTest(
  "find, tar, cmp and df work on a mount",
  () =>
    withMount(
      MemoryTree.of({ d: { e: { f: "text" } }, g: "more" }),
      {},
      async (mount) => {
        const { mountpoint } = mount;
        const found = await output("find", mountpoint, "-type", "f");
        assert.equal(
          found.stdout,
          `${mountpoint}/d/e/f\n${mountpoint}/g\n`,
        );
        const tar = await output(
          "sh",
          "-c",
          `tar -C ${mountpoint} -cf - . | tar -t`,
        );
        assert.match(tar.stdout, /\.\/d\/e\/f/);
        assert.equal((await output("df", mountpoint)).code, 0);
      },
    ),
);

mountTest(
  "a container truncated while it is mounted gives EIO and a message",
  async () => {
    const path = await Deno.makeTempFile();
    const logs: string[] = [];
    const onLog = (message: string) => logs.push(message);
    try {
      const memory = MemoryTree.of({
        head: "h".repeat(8192),
        tail: "t".repeat(50_000),
      });
      await Deno.writeFile(path, memory.sources[0]!.bytes);
      const source = runSync(FileSource.open(path));
      const tree = Object.assign(memory, { sources: [source] });
      await withMount(tree, { onLog, workers: 1 }, async ({ mountpoint }) => {
        const head = await Deno.readTextFile(`${mountpoint}/head`);
        assert.equal(head, "h".repeat(8192));
        await Deno.truncate(path, 8199); // up to the end of head
        await assert.rejects(Deno.readFile(`${mountpoint}/tail`), /os error 5/);
      });
      source.close();
    } finally {
      await Deno.remove(path);
    }
    assert.equal(logs.length, 2, logs.join("\n"));
    assert.ok(logs[0]!.startsWith(`${path} was truncated from `), logs[0]);
    assert.ok(logs[1]!.startsWith(`Cannot read ${path} at byte `), logs[1]);
  },
);

mountTest(
  "a thread that dies is reported at once, and the others continue",
  async () => {
    const died = Promise.withResolvers<string>();
    const tree = MemoryTree.of({ ...folder, fatal: { kind: "fatal" } });
    await withMount(
      tree,
      { onLog: died.resolve, workers: 2 },
      async ({ mountpoint }) => {
        // Its request ends as well, since its descriptor is closed.
        await assert.rejects(Deno.stat(`${mountpoint}/fatal`), /os error/);
        assert.match(await died.promise, /1 continue: this thread was to end$/);
        assert.equal(await Deno.readTextFile(`${mountpoint}/big`), big);
      },
    );
  },
);

mountTest(
  "a mount whose last thread died is dead until it is unmounted",
  async () => {
    const tree = MemoryTree.of({ fatal: { kind: "fatal" } });
    await withMountpoint(async (mountpoint) => {
      const mount = await mountTree(tree, mountpoint, { workers: 1 });
      await assert.rejects(Deno.stat(`${mountpoint}/fatal`), /os error/);
      const { failure } = await mount.finished;
      assert.match(failure?.message ?? "", /this thread was to end$/);
      // The mount stays, so that no process takes the empty directory for the data.
      assert.ok(findMount(readMounts(), mountpoint) !== undefined);
      await assert.rejects(Deno.stat(`${mountpoint}/other`), isNotConnected);
      await mount.unmount();
      assert.equal(findMount(readMounts(), mountpoint), undefined);
      await mount.unmount();
    });
  },
);

mountTest(
  "permission bits apply to users admitted by allow_other",
  async () => {
    const tree = MemoryTree.of(folder);
    const readAsNobody = async (mountpoint: string) => {
      const child = new Deno.Command("cat", {
        args: [`${mountpoint}/a.txt`],
        cwd: "/", // a directory that every user may enter
        env: { LC_ALL: "C" },
        uid: 65534,
        gid: 65534,
        stdin: "null",
      });
      const { stdout, stderr } = await child.output();
      return new TextDecoder().decode(stdout) +
        new TextDecoder().decode(stderr);
    };
    await withMount(tree, { allowOther: true }, async ({ mountpoint }) => {
      assert.equal(await readAsNobody(mountpoint), "hello");
    });
    const masked = { allowOther: true, umask: 0o077 };
    await withMount(tree, masked, async ({ mountpoint }) => {
      assert.match(await readAsNobody(mountpoint), /Permission denied/);
    });
    await withMount(tree, { umask: 0o077 }, ({ mountpoint }) => {
      const entry = findMount(readMounts(), mountpoint);
      assert.ok(entry?.superOptions.includes("default_permissions"));
      return Promise.resolve();
    });
  },
);

mountTest(
  "two trees are mounted at once",
  () =>
    withMount(
      MemoryTree.of({ one: "1" }),
      {},
      (first) =>
        withMountpoint(async (mountpoint) => {
          const tree = MemoryTree.of({ two: "2" });
          await using second = await mountTree(tree, mountpoint);
          assert.equal(await Deno.readTextFile(`${first.mountpoint}/one`), "1");
          assert.equal(
            await Deno.readTextFile(`${second.mountpoint}/two`),
            "2",
          );
        }),
    ),
);
