import assert from "node:assert/strict";
import { MountError } from "../../fuse/mount_error.ts";
import { type MountOptions, mountTree } from "../../fuse/mount.ts";
import { FileSource } from "../../src/io/file_source.ts";
import { runSync } from "../../src/io/steps.ts";
import { MemoryTree } from "./support/memory_tree.ts";
import { mountTest } from "./support/mounting.ts";

const tree = MemoryTree.of({ a: "x" });

async function refusal(
  mountpoint: string,
  options: MountOptions = {},
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
  "a mount point must be empty, unless asked otherwise",
  withDirectory(async (directory) => {
    await Deno.writeTextFile(`${directory}/file`, "");
    assert.equal((await refusal(directory)).code, "not-empty");
    await using mount = await mountTree(tree, directory, { nonEmpty: true });
    assert.equal(await Deno.readTextFile(`${mount.mountpoint}/a`), "x");
  }),
);

mountTest(
  "a mount point must not lie in what is mounted, nor hide it",
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
  "a mount beside its container is fine",
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
  "a tree that a thread can't rebuild is refused before anything is mounted",
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
