/** Killed pack processes: their output is complete or absent. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { PackedFolder } from "../../../src/formats/ffrecord/mod.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { send } from "../../support/programs/processes.ts";
import { CLI, succeed } from "../run_cli.ts";

const FILES = 2000;
const KILLS = LONG ? 50 : 6;

/** Asserts that `out` has all files of the folder, with this text before their number. */
async function assertComplete(out: string, content: string): Promise<void> {
  using folder = await PackedFolder.open(out);
  assert.equal(folder.numFiles, FILES + 1);
  const paths = Array.from({ length: FILES }, (_, i) => `f${i}`);
  const contents = await folder.read(paths);
  contents.forEach((bytes, i) =>
    assert.equal(new TextDecoder().decode(bytes), content + i)
  );
}

function writeFolder(dir: string, content: string): void {
  fs.mkdirSync(dir, { recursive: true });
  for (let i = 0; i < FILES; i++) fs.writeFileSync(`${dir}/f${i}`, content + i);
  fs.writeFileSync(`${dir}/large`, new Uint8Array(20_000_000));
}

for (
  const [what, args, replaces] of [
    ["a file", [], false],
    ["a file that replaces another", ["--force"], true],
    ["a directory of parts", ["--parts", "4"], false],
  ] as const
) {
  Deno.test(`kill -9 while ${what} is packed leaves it whole or absent`, async () => {
    await withTempDir(async (dir) => {
      const out = `${dir}/${what.includes("parts") ? "out" : "out.ffr"}`;
      const command = ["pack", `${dir}/in`, out, ...args];
      writeFolder(`${dir}/in`, "old ");
      const start = performance.now();
      await succeed(command);
      let duration = performance.now() - start;
      await assertComplete(out, "old ");
      writeFolder(`${dir}/in`, "new ");
      for (let kills = 0; kills < KILLS;) {
        if (!replaces) fs.rmSync(out, { recursive: true, force: true });
        const child = new Deno.Command(Deno.execPath(), {
          args: ["run", "-A", CLI, ...command],
          stdout: "null",
        }).spawn();
        // Mostly near the end, when output may be partial.
        const moment = duration * (0.3 + 0.7 * Math.sqrt(Math.random()));
        const timer = setTimeout(() => send(child.pid, "SIGKILL"), moment);
        const { success } = await child.status;
        clearTimeout(timer);
        if (success) {
          await assertComplete(out, "new ");
          duration *= 0.8; // it ended before the kill
          continue;
        }
        kills++;
        if (replaces || fs.existsSync(out)) {
          await assertComplete(out, "new ").catch((error) => {
            if (!replaces) throw error;
            return assertComplete(out, "old ");
          });
        }
      }
    });
  });
}
