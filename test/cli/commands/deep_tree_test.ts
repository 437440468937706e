/** Resources that commands need for nested folders grow at most linearly. */
import assert from "node:assert/strict";
import { ExtractTarget } from "../../../src/io/unpack/extract_target.ts";
import { removeTree } from "../../../src/io/write/remove_tree.ts";
import { open } from "../../../src/open/open.ts";
import { openSync } from "../../../src/open/mod.ts";
import {
  DEEP_CONTENT,
  deepFfr,
  type DeepFiles,
} from "../../support/ffrecord/deep_ffr.ts";
import { LONG } from "../../support/long.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { withTmpfs } from "../../support/programs/tmpfs.ts";
import { recordfs, run } from "../run_cli.ts";

const MOST_MEMORY = 300e6;
const DEPTHS = LONG ? [10_000, 40_000] as const : [3000, 12_000] as const;

interface Taken {
  readonly seconds: number;
  readonly memory: number;
}

/** Runs a command, which must succeed, and returns its resource usage. */
async function measured(args: readonly string[]): Promise<Taken> {
  const script = `${REPOSITORY}test/support/programs/measured_cli.ts`;
  const ran = await run([Deno.execPath(), "run", "-A", script, ...args]);
  assert.equal(ran.code, 0, ran.stderr);
  return JSON.parse(ran.stderr.trimEnd().split("\n").at(-1)!);
}

/** Runs a command on two sizes. Four times as many folders may take five times the processor time. */
async function assertInProportion(
  files: DeepFiles,
  argsFor: (container: string, dir: string) => readonly string[],
  after: (dir: string, depth: number) => Promise<void> | void = () => {},
): Promise<void> {
  await withTmpfs("1g", async (dir) => {
    const container = `${dir}/deep.ffr`;
    const seconds: number[] = [];
    for (const depth of DEPTHS) {
      await Deno.writeFile(container, deepFfr(depth, files));
      const args = argsFor(container, dir);
      const { seconds: taken, memory } = await measured(args);
      seconds.push(taken);
      assert.ok(memory < MOST_MEMORY, `${args[0]} took ${memory} bytes`);
      await after(dir, depth);
    }
    const [few, many] = seconds as [number, number];
    assert.ok(many <= 5 * few, `${few} s became ${many} s`);
  });
}

/** Counts the nested folders, and the files in them. */
async function assertExtracted(dir: string, depth: number): Promise<void> {
  const found = await run(
    ["sh", "-c", `find "$0" -printf '%y %s\\n' | sort | uniq -c`, dir],
  );
  const files = new RegExp(`\\b${depth} f ${DEEP_CONTENT.length}\\n`);
  assert.match(found.stdout, files);
  const folders = found.stdout.match(/\d+(?= d )/g)!.map(Number);
  assert.equal(folders.reduce((sum, n) => sum + n), depth + 1);
}

for (
  const files of LONG ? ["before", "behind"] as const : ["behind"] as const
) {
  Deno.test({
    name:
      `extract of nested folders, with ${files} files each, takes linear time`,
    ...needs("root"),
    fn: () =>
      assertInProportion(
        files,
        (container, dir) => ["extract", container, `${dir}/out`],
        async (dir, depth) => {
          await assertExtracted(`${dir}/out`, depth);
          removeTree(`${dir}/out`);
        },
      ),
  });
}

for (
  // Converting to a folder writes in the same way as extract.
  const to of LONG
    ? ["folder", "ffrecord", "bag"] as const
    : ["ffrecord"] as const
) {
  Deno.test({
    name: `convert --to ${to} of nested folders takes linear time`,
    ...needs("root"),
    fn: () =>
      assertInProportion(
        "behind",
        (container, dir) => {
          const ending = { folder: "", ffrecord: ".ffr", bag: ".bag" }[to];
          const target = `${dir}/out${ending}`;
          return ["convert", "--lossy", "--to", to, container, target];
        },
        async (dir, depth) => {
          if (to === "folder") await assertExtracted(`${dir}/out`, depth);
          if (to === "folder") removeTree(`${dir}/out`);
          else await run(["sh", "-c", `rm -r "$0"/out*`, dir]);
        },
      ),
  });
}

Deno.test({
  name: "pack of nested folders takes linear time, whatever the patterns",
  ...needs("root"),
  fn: () =>
    assertInProportion(
      "behind",
      (container, dir) => {
        // Extracted in this process, so that only packing is measured.
        const target = new ExtractTarget(`${dir}/in`, {
          sync: "none",
          replace: false,
          mtime: new Date(0),
        });
        using fs = openSync(container);
        target.start("");
        for (const entry of fs.walkSync()) {
          if (entry.isDirectory) target.makeDirectory(entry);
          else target.write(entry, DEEP_CONTENT);
        }
        target[Symbol.dispose]();
        const patterns = ["--include", "z", "--exclude", "d/*/x"];
        return ["pack", `${dir}/in`, `${dir}/out.ffr`, "--force", ...patterns];
      },
      async (dir, depth) => {
        using fs = await open(`${dir}/out.ffr`);
        assert.equal(fs.info.files, depth);
        removeTree(`${dir}/in`);
      },
    ),
});

for (const label of LONG ? ["dir", "parent"] : ["parent"]) {
  Deno.test({
    name: `split --stratify ${label} of nested folders takes linear time`,
    ...needs("root"),
    fn: () =>
      assertInProportion("before", (container, dir) => {
        const out = ["--ratios", "1,1", "--force", "--out", `${dir}/out`];
        return ["split", container, "--stratify", label, ...out];
      }),
  });
}

Deno.test({
  name:
    "the partial output of a failed conversion of nested folders is removed",
  ...needs("root"),
  async fn() {
    // Enough for the container and some of the folders, which take an inode and a page each.
    const [room, depth] = LONG
      ? ["40m", 60_000] as const
      : ["10m", 15_000] as const;
    await withTmpfs(room, async (dir) => {
      await Deno.writeFile(`${dir}/deep.ffr`, deepFfr(depth, "behind"));
      const args = [
        "convert",
        "--to",
        "folder",
        `${dir}/deep.ffr`,
        `${dir}/out`,
      ];
      const ran = await recordfs(args);
      assert.equal(ran.code, 1);
      assert.match(ran.stderr, /the disk is full/);
      const names = (await Array.fromAsync(Deno.readDir(dir)))
        .map(({ name }) => name);
      assert.deepEqual(names, ["deep.ffr"]);
    });
  },
});

for (const command of LONG ? ["ls -R", "ls -lR", "tree"] : ["ls -lR", "tree"]) {
  Deno.test({
    name: `${command} of nested folders prints everything in little memory`,
    ...needs("root"),
    fn: () =>
      withTmpfs("64m", async (dir) => {
        const depth = LONG ? 15_000 : 8_000;
        await Deno.writeFile(`${dir}/deep.ffr`, deepFfr(depth, "before"));
        const script = `${REPOSITORY}test/support/programs/measured_cli.ts`;
        const [name, ...flags] = command.split(" ");
        const line = `"$@" 2>"$0/taken" | wc -l`;
        const ran = await run([
          ...["sh", "-c", line, dir, Deno.execPath(), "run", "-A", script],
          ...[name!, ...flags, `${dir}/deep.ffr`],
        ]);
        // tree prints the root, an empty line and the counts as well.
        const lines = 2 * depth + (name === "tree" ? 3 : 0);
        assert.equal(ran.stdout.trim(), String(lines));
        const taken = JSON.parse(await Deno.readTextFile(`${dir}/taken`));
        const { memory, seconds } = taken as Taken;
        assert.ok(memory < MOST_MEMORY, `it took ${memory} bytes`);
        assert.ok(seconds < 30, `it took ${seconds} s`);
      }),
  });
}
