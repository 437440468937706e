import assert from "node:assert/strict";
import * as fs from "node:fs";
import { NewDirectory } from "../../../src/io/write/new_directory.ts";
import { NewFile } from "../../../src/io/write/new_file.ts";
import { runAsync, runSync } from "../../../src/io/concurrency/steps.ts";
import { withTempDir } from "../../support/paths.ts";

Deno.test("a discarded file's descriptor is closed when the last write has ended", async () => {
  await withTempDir(async (dir) => {
    const file = runSync(NewFile.create(`${dir}/a`));
    const writing = runAsync(file.file.writeAt(new Uint8Array(50_000_000), 0));
    file.discard();
    assert.deepEqual(fs.readdirSync(dir), []);
    // It would reuse a descriptor that is closed too early.
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

Deno.test("leftovers of a killed writer are removed, output of running ones stays", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { NewDirectory } from "${
      import.meta.resolve("../../../src/io/write/new_directory.ts")
    }";
      import { NewFile } from "${
      import.meta.resolve("../../../src/io/write/new_file.ts")
    }";
      import { runAsync, runSync } from "${
      import.meta.resolve("../../../src/io/concurrency/steps.ts")
    }";
      globalThis.kept = [
        runSync(NewFile.create("a")),
        await runAsync(NewDirectory.create("b")),
        await runAsync(NewFile.create("${"long".repeat(60)}")),
      ];
      Deno.writeTextFileSync(kept[1].temporary + "/content", "");
      console.log("written");
      setInterval(() => {}, 1000);`;
    fs.writeFileSync(`${dir}/script.ts`, script);
    fs.mkdirSync(`${dir}/out`);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "../script.ts"],
      cwd: `${dir}/out`,
      stdout: "piped",
    }).spawn();
    const output = child.stdout.getReader();
    await output.read();
    const theirs = fs.readdirSync(`${dir}/out`);
    assert.equal(theirs.length, 3);
    const writeAll = () => {
      for (const name of ["a", "long".repeat(60)]) {
        const file = runSync(NewFile.create(`${dir}/out/${name}`));
        runSync(file.publish());
      }
      const directory = runSync(NewDirectory.create(`${dir}/out/b`));
      runSync(directory.publish());
    };
    writeAll();
    const complete = ["a", "b", "long".repeat(60)];
    const all = [...theirs, ...complete].sort();
    assert.deepEqual(fs.readdirSync(`${dir}/out`).sort(), all);
    child.kill("SIGKILL");
    await child.status;
    await output.cancel();
    fs.writeFileSync(`${dir}/out/.other.recordfs-1-1.part`, "another target");
    writeAll();
    assert.deepEqual(
      fs.readdirSync(`${dir}/out`).sort(),
      [".other.recordfs-1-1.part", ...complete],
    );
  });
});

Deno.test("names that are taken are skipped, even while they are being removed", async () => {
  await withTempDir((dir) => {
    const first = runSync(NewFile.create(`${dir}/a`));
    const [name] = fs.readdirSync(dir);
    const number = Number(/-(\d+)\.part$/.exec(name!)![1]);
    first.discard();
    const taken = [1, 2].map((next) =>
      `${dir}/${name!.replace(/\d+\.part$/, `${number + next}.part`)}`
    );
    const locks = taken.map((path) => {
      fs.writeFileSync(path, "theirs");
      const file = Deno.openSync(path, { write: true });
      file.lockSync(true);
      return file;
    });
    const file = runSync(NewFile.create(`${dir}/a`));
    runSync(file.file.writeAt(Uint8Array.of(65), 0));
    runSync(file.publish());
    assert.equal(fs.readFileSync(`${dir}/a`, "utf8"), "A");
    for (const path of taken) {
      assert.equal(fs.readFileSync(path, "utf8"), "theirs");
    }
    for (const lock of locks) lock.close();
    runSync(NewFile.create(`${dir}/a`)).discard();
    assert.deepEqual(fs.readdirSync(dir), ["a"]);
  });
});

Deno.test("an aborted opening leaves nothing", async () => {
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

Deno.test("the current directory can be replaced if it is empty", async () => {
  await withTempDir(async (dir) => {
    const script = `
      import { NewDirectory } from "${
      import.meta.resolve("../../../src/io/write/new_directory.ts")
    }";
      import { runSync } from "${
      import.meta.resolve("../../../src/io/concurrency/steps.ts")
    }";
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

Deno.test("a discarded directory is removed with its content", async () => {
  await withTempDir((dir) => {
    const directory = runSync(NewDirectory.create(`${dir}/a`));
    fs.mkdirSync(`${directory.temporary}/b/c`, { recursive: true });
    fs.writeFileSync(`${directory.temporary}/b/c/d`, "");
    directory.discard();
    directory.discard();
    assert.deepEqual(fs.readdirSync(dir), []);
  });
});

Deno.test("a directory with only leftovers counts as empty", async () => {
  await withTempDir((dir) => {
    fs.mkdirSync(`${dir}/a/.000000.recordfs-1-1.part/b`, { recursive: true });
    const directory = runSync(NewDirectory.create(`${dir}/a`));
    runSync(directory.publish());
    assert.deepEqual(fs.readdirSync(`${dir}/a`), []);
    fs.writeFileSync(`${dir}/a/.hidden.part`, "");
    assert.throws(
      () => runSync(NewDirectory.create(`${dir}/a`)),
      { code: "not-empty" },
    );
  });
});

Deno.test("threads that write the same file do not remove each other's output as leftovers", async () => {
  await withTempDir(async (dir) => {
    const failures = await Promise.all(Array.from({ length: 3 }, async () => {
      const worker = new Worker(
        import.meta.resolve("./same_file_worker.ts"),
        { type: "module" },
      );
      const answer = Promise.withResolvers<string | null>();
      worker.onmessage = ({ data }) => answer.resolve(data);
      worker.postMessage({ file: `${dir}/a`, times: 300 });
      try {
        return await answer.promise;
      } finally {
        worker.terminate();
      }
    }));
    assert.deepEqual(failures, [null, null, null]);
    assert.equal(fs.readFileSync(`${dir}/a`, "utf8"), "whole");
    assert.deepEqual(fs.readdirSync(dir), ["a"]);
  });
});
