/** The final screen of each command: its output, without progress or messages of Deno. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { goldenCase } from "../../support/golden.ts";
import { needs } from "../../support/programs/programs.ts";
import { atTerminal, screenOf } from "../../support/programs/screen.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { FULL } from "../../support/long.ts";
import { CLI, run } from "../run_cli.ts";

const { path: packed } = goldenCase("ffrecord/packed_tree");

Deno.test("a screen shows the text that remains on it", () => {
  assert.deepEqual(screenOf("one\r\ntwo\rT\r\n"), ["one", "Two"]);
  // A line that is drawn at a saved position, and cleared.
  assert.deepEqual(
    screenOf("\x1b7bar\x1b[1G\x1b[2Kanswer\r\n\x1b8\x1b[2K"),
    [],
  );
  assert.throws(() => screenOf("\x1b[2J"), /unknown key/);
});

/** Command lines, and the last line of their output. `DIR` is a directory of the test. */
const COMMANDS: readonly (readonly [string, RegExp])[] = [
  [`convert ${packed} DIR/conv/`, /^DIR\/conv\/: \d+ files$/],
  ["cache verify", /^0 objects, 0 damaged$/],
  [`check ${packed}`, /packed_tree.*samples/],
  [`extract ${packed} DIR/out`, /^DIR\/out: \d+ files/],
  ["pack DIR/folder DIR/folder.ffr", /^DIR\/folder\.ffr: 1 file/],
  ["write DIR/new.ffr DIR/folder/a.txt", /^DIR\/new\.ffr: 1 sample/],
  [`split ${packed} --ratios 1,1 --out DIR/split`, /^DIR\/split\/val\.txt: /],
  [`bench-loader ${packed} --batches 1 --workers 0`, /^ +0 +64 /],
  [`ls ${packed}`, /^\S/],
  [`tree ${packed}`, /director.*files$/],
  [`cat DIR/one.ffr a.txt`, /^text$/],
  [`stat DIR/one.ffr a.txt`, /inode: /],
  [`info ${packed}`, /part: /],
  [`records ${packed}`, /^ +\d+ +\d+ +\d+ +[0-9a-f]{8}/],
  ["--version", /^\d+\.\d+\.\d+$/],
  ["--help", /recordfs pack photos\/ photos\.ffr$/],
];

Deno.test({
  name: "each command leaves its output on a terminal (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/folder`);
      fs.writeFileSync(`${dir}/folder/a.txt`, "text\n");
      fs.mkdirSync(`${dir}/run`, { mode: 0o700 });
      const env = { XDG_CACHE_HOME: dir, XDG_RUNTIME_DIR: `${dir}/run` };
      const program = [Deno.execPath(), "run", "-A", CLI];
      const pack = ["pack", `${dir}/folder`, `${dir}/one.ffr`];
      await atTerminal([...program, ...pack], { env });
      for (const [line, last] of FULL ? COMMANDS : COMMANDS.slice(0, 4)) {
        const args = line.replaceAll("DIR", dir).split(" ");
        const { code, lines } = await atTerminal([...program, ...args], {
          env,
        });
        const all = lines.map((one) => one.replaceAll(dir, "DIR"));
        assert.equal(code, 0, all.join("\n"));
        assert.match(all.at(-1) ?? "", last, `${line}:\n${all.join("\n")}`);
        for (const one of all) assert.doesNotMatch(one, /[=-]{16}|0 B/);
      }
    });
  },
});

/** Opens something slowly, reporting these amounts as fetched. */
const SLOWLY = `
import { Opening } from ${
  JSON.stringify(import.meta.resolve("../../../src/cli/terminal/opening.ts"))
};
import { progressLine } from ${
  JSON.stringify(import.meta.resolve("../../../src/cli/messages.ts"))
};
const opening = new Opening();
while (!progressLine.isDrawn) await new Promise((resolve) => setTimeout(resolve, 20));
for (const bytes of JSON.parse(Deno.args[0])) opening.update(bytes);
await new Promise((resolve) => setTimeout(resolve, 200));
opening[Symbol.dispose]();
console.log("open");
`;

Deno.test({
  name:
    "a local container that takes long is shown as opening, not as fetching (needs script)",
  ...needs("script"),
  async fn() {
    await withTempDir(async (dir) => {
      fs.writeFileSync(`${dir}/slowly.ts`, SLOWLY);
      const drawn = async (amounts: readonly number[]) => {
        const words = [
          ...[Deno.execPath(), "run", "-A", "--config"],
          ...[`${REPOSITORY}deno.json`, `${dir}/slowly.ts`],
        ];
        const line = [...words, JSON.stringify(amounts)]
          .map((word) => `'${word}'`).join(" ");
        const { stdout } = await run(["script", "-qec", line, "/dev/null"]);
        assert.deepEqual(screenOf(stdout), ["open"]);
        return stdout;
      };
      const local = await drawn([]);
      assert.match(local, /opening/);
      assert.doesNotMatch(local, /fetching|0 B/);
      assert.match(await drawn([5000]), /fetching the index 5\.0 kB/);
    });
  },
});
