import assert from "node:assert/strict";
import * as fs from "node:fs";
import { NewDirectory } from "../../src/io/new_directory.ts";
import { NewFile } from "../../src/io/new_file.ts";
import { runAsync, runSync } from "../../src/io/steps.ts";
import { withTempDir } from "../support/paths.ts";

Deno.test("a discarded file's descriptor is closed when the last write has ended", async () => {
  await withTempDir(async (dir) => {
    const file = runSync(NewFile.create(`${dir}/a`));
    const writing = runAsync(file.file.writeAt(new Uint8Array(50_000_000), 0));
    file.discard();
    assert.deepEqual(fs.readdirSync(dir), []);
    // It would get the number of a descriptor that is closed too early.
    const other = fs.openSync(`${dir}/other`, "w");
    await Promise.allSettled([writing]);
    assert.equal(fs.fstatSync(other).size, 0);
    fs.closeSync(other);
    assert.throws(
      () => runSync(file.file.writeAt(Uint8Array.of(1), 0)),
      { code: "closed" },
    );
  });
});

Deno.test("what a killed process left behind is no obstacle", async () => {
  await withTempDir((dir) => {
    const first = runSync(NewFile.create(`${dir}/a`));
    const [name] = fs.readdirSync(dir);
    const number = Number(/-(\d+)\.part$/.exec(name!)![1]);
    first.discard();
    const pid = /recordfs-(\d+)-/.exec(name!)![1];
    for (let i = 1; i <= 3; i++) {
      fs.writeFileSync(
        `${dir}/.a.recordfs-${pid}-${number + i}.part`,
        "theirs",
      );
    }
    const file = runSync(NewFile.create(`${dir}/a`));
    runSync(file.file.writeAt(Uint8Array.of(65), 0));
    runSync(file.publish());
    assert.equal(fs.readFileSync(`${dir}/a`, "utf8"), "A");
    for (let i = 1; i <= 3; i++) {
      const theirs = `${dir}/.a.recordfs-${pid}-${number + i}.part`;
      assert.equal(fs.readFileSync(theirs, "utf8"), "theirs");
    }
  });
});

Deno.test("an opening that is given up while it is under way leaves nothing", async () => {
  await withTempDir(async (dir) => {
    const controller = new AbortController();
    const opening = runAsync(NewFile.create(`${dir}/a`), controller.signal);
    const watch = setInterval(() => {
      if (fs.readdirSync(dir).length > 0) controller.abort(new Error("no"));
    });
    const ended = await Promise.allSettled([opening]);
    clearInterval(watch);
    if (ended[0]!.status === "fulfilled") ended[0]!.value.discard();
    assert.deepEqual(fs.readdirSync(dir), []);

    const next = runAsync(NewFile.create(`${dir}/a`), controller.signal);
    controller.abort(new Error("no"));
    await assert.rejects(next, /no/);
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("the current directory can be replaced when it is empty", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { NewDirectory } from "${
      import.meta.resolve("../../src/io/new_directory.ts")
    }";
      import { runSync } from "${import.meta.resolve("../../src/io/steps.ts")}";
      import * as fs from "node:fs";
      const directory = runSync(NewDirectory.create("."));
      fs.writeFileSync(directory.temporary + "/a", "");
      runSync(directory.publish());`;
    fs.mkdirSync(`${dir}/here`);
    fs.writeFileSync(`${dir}/script.ts`, script);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "../script.ts"],
      cwd: `${dir}/here`,
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.deepEqual(fs.readdirSync(`${dir}/here`), ["a"]);
  });
});

Deno.test("a discarded directory goes with all that is in it", async () => {
  await withTempDir((dir) => {
    const directory = runSync(NewDirectory.create(`${dir}/a`));
    fs.mkdirSync(`${directory.temporary}/b/c`, { recursive: true });
    fs.writeFileSync(`${directory.temporary}/b/c/d`, "");
    directory.discard();
    directory.discard();
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});
