/** Programs that write the index of one file at once, and those that are killed meanwhile. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { open } from "../../../src/open/open.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { memberBytes } from "../../support/tar/make_tar.ts";
import { CLI } from "../run_cli.ts";

const INDEX = ".recordfs-index";

/** Indexes a file in a process of its own. */
function indexing(path: string, cache: string) {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", CLI, "index", path, "--cache-dir", cache],
    stdout: "null",
    stderr: "piped",
  }).spawn();
}

Deno.test("programs that index one file at once write the same, and those that are killed nothing", () =>
  withTempDir(async (dir) => {
    const tar = `${dir}/x.tar`;
    const members = Array.from(
      { length: 60_000 },
      (_, i) => memberBytes({ name: `${i}.txt`, data: `${i}` }),
    );
    fs.writeFileSync(tar, Buffer.concat([...members, Buffer.alloc(1024)]));
    for (let kill = 0; kill < (LONG ? 30 : 4); kill++) {
      const child = indexing(tar, `${dir}/cache`);
      await setTimeout(250 + 100 * kill);
      try {
        send(child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
      await child.output();
      if (!fs.existsSync(tar + INDEX)) continue;
      await assertWhole(tar);
      fs.rmSync(tar + INDEX);
    }
    const children = Array.from(
      { length: 16 },
      () => indexing(tar, `${dir}/cache`),
    );
    for (const child of children) {
      const { success, stderr } = await child.output();
      assert.ok(success, new TextDecoder().decode(stderr));
    }
    await assertWhole(tar);
    // What was left by those that were killed is gone, too.
    assert.deepEqual(fs.readdirSync(dir).sort(), [
      "cache",
      "x.tar",
      `x.tar${INDEX}`,
    ]);
  }));

/** Whether a tar of numbered members is opened by its index. */
async function assertWhole(tar: string): Promise<void> {
  const warnings: string[] = [];
  using container = await open(tar, {
    remote: { cache: false },
    onWarning: (message) => warnings.push(message),
  });
  assert.deepEqual(warnings, []);
  assert.equal(container.info.files, 60_000);
  assert.equal(
    Buffer.from(await container.read("59999.txt")).toString(),
    "59999",
  );
}
