/** Globs as paths of `ls`, `cat` and `extract`. */
import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { compileGlob } from "../../../src/cli/input/glob.ts";
import { PathPattern } from "../../../src/tree/vfs/path_filter.ts";
import {
  ffrBytes,
  type Folder,
  packedSamples,
} from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { assertFailed, recordfs, run, succeed } from "../run_cli.ts";

const text = (content: string) => new TextEncoder().encode(content);

const FOLDER: Folder = {
  "*.txt": text("star\n"),
  "a.txt": text("a\n"),
  "b.jpg": text("b\n"),
  "train": {
    "c.txt": text("c\n"),
    "d.jpg": text("d\n"),
    "deep": { "e.txt": text("e\n"), "f.jpg": text("f\n") },
  },
  "trial": { "g.jpg": text("g\n") },
};

async function withContainer(
  body: (file: string, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    await Deno.writeFile(`${dir}/x.ffr`, ffrBytes(packedSamples(FOLDER)));
    await body(`${dir}/x.ffr`, dir);
  });
}

const lines = (text: string) => text.split("\n").slice(0, -1);

Deno.test("ls lists the matches of a glob", async () => {
  await withContainer(async (file) => {
    const cases: [string[], string[]][] = [
      [["*.jpg"], ["b.jpg", "train/d.jpg", "train/deep/f.jpg", "trial/g.jpg"]],
      [["/*.jpg"], ["b.jpg"]],
      [["tr*"], ["train", "trial"]],
      [["tr*/"], ["train", "trial"]],
      [["train/*.{txt,jpg}"], ["train/c.txt", "train/d.jpg"]],
      [["train/**"], [
        "train/c.txt",
        "train/d.jpg",
        "train/deep",
        "train/deep/e.txt",
        "train/deep/f.jpg",
      ]],
      [["{a.txt,train/d.jpg}"], ["a.txt", "train/d.jpg"]],
      [["-R", "tri*"], ["trial", "trial/g.jpg"]],
      [["\\*.txt"], ["*.txt"]],
      // An exact name takes precedence.
      [["*.txt"], ["*.txt"]],
    ];
    for (const [[...args], expected] of cases) {
      const path = args.pop()!;
      const { stdout } = await succeed(["ls", ...args, file, path]);
      assert.deepEqual(lines(stdout), expected, path);
    }
    const { stdout } = await succeed(["ls", "--json", file, "/b*"]);
    assert.deepEqual(JSON.parse(stdout), [
      { path: "b.jpg", type: "file", size: 2 },
    ]);
  });
});

Deno.test("cat writes the files that globs match, in the order of paths", async () => {
  await withContainer(async (file) => {
    const cat = async (...paths: string[]) =>
      (await succeed(["cat", file, ...paths])).stdout;
    assert.equal(await cat("[a-e].txt"), "a\nc\ne\n");
    assert.equal(await cat("trial/g*", "/b.*"), "g\nb\n");
    assert.equal(await cat("*.txt"), "star\n");
    assert.equal(await cat("[b-e].txt", "\\*.txt"), "c\ne\nstar\n");
  });
});

Deno.test("extract writes the matches of globs, nothing twice, and directories whole", async () => {
  await withContainer(async (file, dir) => {
    const cases: [string[], string[]][] = [
      [["*.jpg"], ["b.jpg", "train/d.jpg", "train/deep/f.jpg", "trial/g.jpg"]],
      [["tr*", "d*", "*.jpg", "train"], [
        "b.jpg",
        "train/c.txt",
        "train/d.jpg",
        "train/deep/e.txt",
        "train/deep/f.jpg",
        "trial/g.jpg",
      ]],
      [["/tr*l/"], ["trial/g.jpg"]],
      [["*"], [
        "*.txt",
        "a.txt",
        "b.jpg",
        "train/c.txt",
        "train/d.jpg",
        "train/deep/e.txt",
        "train/deep/f.jpg",
        "trial/g.jpg",
      ]],
      [["*.txt", "train/deep/*"], [
        "*.txt",
        "train/deep/e.txt",
        "train/deep/f.jpg",
      ]],
    ];
    for (const [i, [globs, expected]] of cases.entries()) {
      const out = `${dir}/out${i}`;
      const { stdout } = await succeed(["extract", file, out, ...globs]);
      const found = await run(["find", out, "-type", "f", "-printf", "%P\n"]);
      assert.deepEqual(lines(found.stdout).sort(), expected, globs.join(" "));
      assert.match(stdout, new RegExp(`: ${expected.length} files?, `));
    }
  });
});

Deno.test("a glob without matches is a failure; an invalid one is a usage error", async () => {
  await withContainer(async (file, dir) => {
    const words = /No file or directory in .*x\.ffr matches '\*\.png'$/m;
    assertFailed(await recordfs(["ls", file, "*.png"]), 1, words);
    const cat = await recordfs(["cat", file, "*.png", "/a.*"]);
    assert.deepEqual([cat.stdout, cat.code], ["a\n", 1]);
    assertFailed(cat, 1, /No file in .*'\*\.png'/);
    // A glob of `cat` matches files only.
    assertFailed(await recordfs(["cat", file, "tri*"]), 1, /No file in .*tri/);
    const out = await recordfs(["extract", file, `${dir}/o`, "*.png", "/a*"]);
    assert.match(out.stderr, words);
    assert.match(out.stdout, /: 1 file, 0 directories, 2 bytes$/m);
    assert.equal(out.code, 1);
    assertFailed(
      await recordfs(["ls", file, "[a"]),
      2,
      /pattern '\[a' is invalid/,
    );
  });
});

Deno.test("every directory that may contain a match is searched", () => {
  const piece = fc.constantFrom("a", "b", "*", "?", "[ab]", "{a,b}", "**");
  const part = fc.array(piece, { minLength: 1, maxLength: 2 })
    .map((pieces) => pieces.join(""));
  const name = fc.constantFrom("a", "b", "ab", "ba");
  const glob = fc.tuple(
    fc.constantFrom("", "/"),
    fc.array(part, { minLength: 1, maxLength: 4 }),
  ).map(([slash, parts]) => slash + parts.join("/"));
  const path = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(glob, path, (glob, names) => {
      const pattern = new PathPattern(glob, compileGlob);
      const path = names.join("/");
      const name = names.at(-1)!;
      const entry = { path, name, depth: names.length, isDirectory: false };
      if (!pattern.matches(entry)) return;
      for (let i = 1; i < names.length; i++) {
        const directory = names.slice(0, i).join("/");
        assert.ok(pattern.mayMatchIn(directory), `${glob}: ${directory}`);
      }
    }),
    { numRuns: 5000 },
  );
  const pattern = new PathPattern("a/b*/c", compileGlob);
  assert.ok(pattern.hasDepth && pattern.mayMatchIn("a/bx"));
  assert.ok(!pattern.mayMatchIn("b") && !pattern.mayMatchIn("a/bx/c"));
});
