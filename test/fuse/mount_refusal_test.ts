import assert from "node:assert/strict";
import { MountError } from "../../fuse/mounting/mount_error.ts";
import { findMount, readMounts } from "../../fuse/mounting/mountinfo.ts";
import { mountTree, type MountTreeOptions } from "../../fuse/mount.ts";
import { FileSource } from "../../src/io/storage/file_source.ts";
import { runSync } from "../../src/io/concurrency/steps.ts";
import { MemoryTree } from "./support/memory_tree.ts";
import { mountTest } from "./support/mounting.ts";

const tree = MemoryTree.of({ a: "x" });

async function refusal(
  mountpoint: string,
  options: MountTreeOptions = {},
  from = tree,
): Promise<MountError> {
  try {
    await using _mount = await mountTree(from, mountpoint, options);
  } catch (error) {
    assert.ok(error instanceof MountError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it was mounted" });
}

function withDirectory(
  run: (directory: string) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const directory = await Deno.makeTempDir();
    try {
      await run(directory);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  };
}

mountTest(
  "a mount point must be an existing directory",
  withDirectory(async (directory) => {
    const missing = await refusal(`${directory}/none`);
    assert.equal(missing.code, "no-mountpoint");
    assert.equal(missing.path, `${directory}/none`);
    await Deno.writeTextFile(`${directory}/file`, "");
    assert.equal((await refusal(`${directory}/file`)).code, "not-a-directory");
  }),
);

mountTest(
  "a mount point must be empty by default",
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "");
    assert.equal((await refusal(directory)).code, "not-empty");
    await using mount = await mountTree(tree, directory, { nonEmpty: true });
    assert.equal(await Deno.readTextFile(`${mount.mountpoint}/a`), "x");
  }),
);

for (const [kind, content] of [["a", { a: "x" }], ["an empty", {}]] as const) {
  mountTest(
    `of two mounts of ${kind} tree at once on a directory one is rejected`,
    withDirectory(async (directory) => {
      const tree = MemoryTree.of(content);
      const results = await Promise.allSettled([
        mountTree(tree, directory),
        mountTree(tree, `${directory}/`),
      ]);
      const mounts = results.filter((result) => result.status === "fulfilled");
      const errors = results.filter((result) => result.status === "rejected");
      assert.deepEqual(errors.map(({ reason }) => reason.code), ["not-empty"]);
      for (const { value } of mounts) await value.unmount();
      assert.equal(findMount(readMounts(), directory), undefined);
    }),
  );
}

mountTest(
  "mounts on top of each other are distinguished",
  withDirectory(async (directory) => {
    const both = await Promise.all(
      ["0", "1"].map((name) =>
        mountTree(MemoryTree.of({ [name]: name }), directory, {
          nonEmpty: true,
        })
      ),
    );
    const [top] = await Array.fromAsync(
      Deno.readDir(directory),
      ({ name }) => Number(name), // which of the two was mounted last
    );
    const upper = both[top!]!;
    const lower = both[1 - top!]!;
    await assert.rejects(lower.unmount(), { code: "busy" });
    assert.equal(
      await Deno.readTextFile(`${directory}/${top}`),
      String(top),
    );
    await upper.unmount();
    await lower.unmount();
    assert.equal(findMount(readMounts(), directory), undefined);
  }),
);

mountTest(
  "a tree without a root in the serving thread is rejected before anything is mounted",
  withDirectory(async (directory) => {
    const damaged = { kind: "damaged", message: "no root", bytes: "" };
    const module = new URL("./support/memory_tree.ts", import.meta.url).href;
    const silent = Object.assign(MemoryTree.of({}), {
      share: () => ({ module, data: [damaged] }),
    });
    const error = await refusal(directory, {}, silent);
    assert.equal(error.code, "server");
    assert.match(error.message, /Cannot serve the mount: no root$/);
    assert.equal(findMount(readMounts(), directory), undefined);
  }),
);

Deno.test("options of the API are checked like those of -o", async () => {
  const wrong: MountTreeOptions[] = [
    { workers: 0 },
    { workers: -1 },
    { workers: NaN },
    { workers: 1.5 },
    { workers: 65 },
    { uid: -5 },
    { gid: 2 ** 32 - 1 },
    { umask: 0o7777 },
    { maxRead: 0.5 },
    { fsname: "" },
    { subtype: "a\0b" },
  ];
  for (const options of wrong) {
    const error = await refusal("/no/such/directory", options);
    assert.equal(error.code, "bad-option", JSON.stringify(options));
    assert.ok(error.message.includes(Object.keys(options)[0]!));
  }
});

mountTest(
  "a mount point must not be in the container, nor hide it",
  withDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/data/inner`, { recursive: true });
    const inside = await refusal(`${directory}/data/inner`, {
      source: `${directory}/data`,
    });
    assert.equal(inside.code, "inside-source");
    await Deno.writeTextFile(`${directory}/data/file`, "content");
    const source = runSync(FileSource.open(`${directory}/data/file`));
    const stored = Object.assign(MemoryTree.of({}), { sources: [source] });
    const hides = await refusal(`${directory}/data`, {
      nonEmpty: true,
      source: `${directory}/data/file`,
    }, stored);
    assert.equal(hides.code, "hides-source");
    source.close();
  }),
);

mountTest(
  "a mount next to its container works",
  withDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/mountpoint`);
    await Deno.writeTextFile(`${directory}/container`, "content");
    await using mount = await mountTree(tree, `${directory}/mountpoint`, {
      source: `${directory}/container`,
    });
    assert.equal(mount.mountpoint, `${directory}/mountpoint`);
  }),
);

mountTest(
  "a tree that a thread cannot rebuild is rejected before anything is mounted",
  withDirectory(async (directory) => {
    const broken = Object.assign(MemoryTree.of({}), {
      share: () => ({ module: "file:///no/such/module.ts", data: null }),
    });
    const error = await refusal(directory, {}, broken);
    assert.equal(error.code, "server");
    assert.match(error.message, /no\/such\/module/);
  }),
);

mountTest(
  "a missing permission is named",
  withDirectory(async (directory) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-check", "--no-prompt", "--allow-read", "--allow-env"],
        new URL("./support/serve.ts", import.meta.url).pathname,
        directory,
      ],
      stdin: "null",
    });
    const { stdout } = await child.output();
    assert.match(
      new TextDecoder().decode(stdout),
      /^permission: .*--allow-ffi/,
    );
  }),
);
