import assert from "node:assert/strict";
import * as fs from "node:fs";
import { FileLock } from "../../../src/io/write/file_lock.ts";
import { withTempDir } from "../../support/paths.ts";

Deno.test("a lock is exclusive until it is released", async () => {
  await withTempDir((dir) => {
    const path = `${dir}/file`;
    assert.throws(() => FileLock.take(path), {
      name: "WriteError",
      code: "ENOENT",
    });
    fs.writeFileSync(path, "content");
    const busy = { name: "WriteError", code: "busy", path };
    const lock = FileLock.take(path);
    assert.throws(() => FileLock.take(path), busy);
    lock[Symbol.dispose]();
    lock[Symbol.dispose]();
    using _ = FileLock.take(path);
    assert.throws(() => FileLock.take(path), busy);
    assert.equal(fs.readFileSync(path, "utf8"), "content");
  });
});

Deno.test("a lock ends with its process", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/file`;
    fs.writeFileSync(path, "");
    const script = `${dir}/lock.ts`;
    fs.writeFileSync(
      script,
      `const file = Deno.openSync("${path}", { write: true });
      file.lockSync(true);
      console.log("locked");
      setInterval(() => {}, 1000);`,
    );
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", script],
      stdout: "piped",
    }).spawn();
    const output = child.stdout.getReader();
    await output.read();
    assert.throws(() => FileLock.take(path), { code: "busy" });
    child.kill("SIGKILL");
    await child.status;
    await output.cancel();
    FileLock.take(path)[Symbol.dispose]();
  });
});
