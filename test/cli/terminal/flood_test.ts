/** Commands that print a line per finding stop after ten, and print how many more there are. */
import assert from "node:assert/strict";
import { firstOnly, RateLimitedLog } from "../../../src/cli/messages.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { fakeJpeg, writeChunk } from "../../support/gulp/make_gulp.ts";
import { withTempDir } from "../../support/paths.ts";
import { recordfs } from "../run_cli.ts";

/** Number of findings. */
const COUNT = 25;

Deno.test("a rate-limited log shows ten lines, and counts the others once", () => {
  const shown: string[] = [];
  const flood = new RateLimitedLog((line) => shown.push(line), {});
  flood.end();
  for (let i = 0; i < COUNT; i++) flood.add(`line ${i}`);
  flood.end();
  flood.end();
  assert.equal(shown.length, 11);
  assert.deepEqual(shown.slice(9), [
    "line 9",
    "… and 15 more (--all shows them)",
  ]);
  const all: string[] = [];
  const open = new RateLimitedLog((line) => all.push(line), { all: true });
  for (let i = 0; i < COUNT; i++) open.add(`line ${i}`);
  open.end();
  assert.equal(all.length, COUNT);
});

Deno.test("a command that may run for days reports the limit when it is reached", () => {
  const shown: string[] = [];
  const show = firstOnly((line) => shown.push(line), "look there");
  for (let i = 0; i < COUNT; i++) show(`line ${i}`);
  assert.equal(shown.length, 11);
  assert.deepEqual(shown[10], "further messages are not shown; look there");
});

/** Writes a plain file of samples that all fail their checksums. */
async function writeDamaged(path: string): Promise<void> {
  const samples = Array.from({ length: COUNT }, (_, i) => Uint8Array.of(i));
  const bytes = ffrBytes(samples);
  bytes.fill(0xff, bytes.length - COUNT);
  await Deno.writeFile(path, bytes);
}

/** Writes a directory of chunks in which a single video is readable. */
function writeDamagedGulp(dir: string): void {
  const sound = { id: "sound", frames: [fakeJpeg(8)] };
  const videos = Array.from(
    { length: COUNT },
    (_, i) => ({ id: `v${i}`, frames: [fakeJpeg(8)] }),
  );
  writeChunk(dir, 0, [sound, ...videos]);
  const meta = JSON.parse(Deno.readTextFileSync(`${dir}/meta_0.gmeta`));
  for (const { id } of videos) meta[id].frame_info[0][0] = 1 << 20;
  Deno.writeTextFileSync(`${dir}/meta_0.gmeta`, JSON.stringify(meta));
}

Deno.test("commands stop after ten lines, and --all shows all", async () => {
  await withTempDir(async (dir) => {
    await writeDamaged(`${dir}/x.ffr`);
    writeDamagedGulp(`${dir}/gulp`);
    await Deno.mkdir(`${dir}/links`);
    for (let i = 0; i < COUNT; i++) {
      await Deno.symlink("nowhere", `${dir}/links/${i}`);
    }
    // Command lines, the start of each finding's line, and the stream it is printed to.
    const cases: [string[], RegExp, "stdout" | "stderr"][] = [
      [["check", `${dir}/x.ffr`], /^damaged: .*checksum/gm, "stdout"],
      [["check", `${dir}/gulp`], /^damaged: .*v\d/gm, "stdout"],
      [["cat", `${dir}/x.ffr`, "*"], /^recordfs: .*checksum/gm, "stderr"],
      [["extract", `${dir}/x.ffr`, `${dir}/OUT`], /^.*checksum/gm, "stderr"],
      [["ls", `${dir}/gulp`], /^recordfs: warning: Skipped/gm, "stderr"],
      [["info", `${dir}/gulp`], /^recordfs: warning: Skipped/gm, "stderr"],
      [["tree", `${dir}/gulp`], /^recordfs: warning: Skipped/gm, "stderr"],
      [
        ["gulp", "repair", `${dir}/gulp`, `${dir}/OUT`],
        /^skipped: .*v\d/gm,
        "stdout",
      ],
      [["pack", `${dir}/links`, `${dir}/OUT.ffr`], /^.*nowhere/gm, "stderr"],
      [
        ["pack", "--skip-problems", `${dir}/links`, `${dir}/OUT.ffr`],
        /^.*nowhere/gm,
        "stderr",
      ],
    ];
    for (const [i, [args, line, where]] of cases.entries()) {
      const named = (name: string) =>
        args.map((arg) => arg.replace("OUT", name));
      const few = await recordfs(named(`few${i}`));
      const found = few[where].match(line)?.length;
      assert.equal(found, 10, `${args}: ${few.stderr}${few.stdout}`);
      assert.match(few[where], /: … and \d+ more \(--all shows them\)$/m);
      const all = await recordfs([...named(`all${i}`), "--all"]);
      assert.ok(all[where].match(line)!.length >= COUNT, all[where]);
      assert.doesNotMatch(all[where], /more/);
      assert.equal(all.code, few.code);
    }
  });
});

Deno.test("--json is complete", async () => {
  await withTempDir(async (dir) => {
    await writeDamaged(`${dir}/x.ffr`);
    const checked = await recordfs(["check", "--json", `${dir}/x.ffr`]);
    assert.equal(JSON.parse(checked.stdout).damage.length, COUNT);
    const extracted = await recordfs(
      ["extract", "--json", `${dir}/x.ffr`, `${dir}/out`],
    );
    const { failed, files, bytes, seconds } = JSON.parse(extracted.stdout);
    assert.deepEqual([files, bytes, failed.length], [0, 0, COUNT]);
    assert.deepEqual(failed[0].path, "000000");
    assert.equal(failed[0].code, "sample-checksum");
    assert.match(failed[0].message, /--no-verify$/);
    assert.ok(seconds > 0);
    assert.equal(extracted.code, 1);
    assert.match(
      extracted.stderr,
      /^recordfs: 25 files and directories were not extracted from .*\n$/,
    );
  });
});

Deno.test("convert reports each loss once, up to ten of them", async () => {
  await withTempDir(async (dir) => {
    const videos = Array.from(
      { length: COUNT },
      (_, i) => ({ id: `v${i}`, frames: [Uint8Array.of(1, 2, 3, i)] }),
    );
    writeChunk(`${dir}/gulp`, 0, videos);
    const args = ["convert", `${dir}/gulp`, `${dir}/OUT`, "--to", "gulp"];
    const named = (name: string) => args.map((arg) => arg.replace("OUT", name));
    const few = await recordfs([...named("few"), "--lossy"]);
    assert.equal(few.stderr.match(/skipped: /g)?.length, 10, few.stderr);
    assert.match(few.stderr, /warning: … and 15 more \(--all shows them\)$/m);
    const all = await recordfs([...named("all"), "--lossy", "--all"]);
    assert.equal(all.stderr.match(/skipped: /g)?.length, COUNT);
    const json = await recordfs([...named("json"), "--lossy", "--json"]);
    assert.equal(JSON.parse(json.stdout).warnings.length, COUNT);
    assert.equal(json.stderr, "");
  });
});
