import assert from "node:assert/strict";
import { UsageError } from "../../../src/cli/exit.ts";
import { compileGlob } from "../../../src/cli/input/glob.ts";
import { PathFilter } from "../../../src/tree/vfs/path_filter.ts";

Deno.test("globs match as in shells and .gitignore", () => {
  const cases: [string, string[], string[]][] = [
    ["*.jpg", ["a.jpg", ".jpg", ".a.jpg", "a\nb.jpg"], ["a/b.jpg", "a.jpgx"]],
    ["?", ["a", "é", "😀", "\udc80", "."], ["", "ab", "/"]],
    ["[a-c]x", ["bx"], ["dx", "-x"]],
    ["[!a-c]x", ["dx", "éx"], ["bx", "x", "/x"]],
    ["{a,b*}.c", ["a.c", "bc.c"], ["c.c", "{a,b*}.c"]],
    ["{a,{b,c}d}", ["a", "bd", "cd"], ["b", "ad"]],
    ["a/**", ["a/b", "a/.b/c"], ["a", "ab", "b/a/c"]],
    ["**/a", ["a", "b/a", "b/.c/a"], ["ba", "a/b"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]],
    ["a/*/b", ["a/x/b"], ["a/b", "a/x/y/b"]],
    ["(a|b)+@c$", ["(a|b)+@c$"], ["a", "b", "aa@c"]],
    ["!a", ["!a"], ["b", "a"]],
    ["#a b", ["#a b"], ["a b"]],
    [`"a"'b'`, [`"a"'b'`], ["ab"]],
    ["\\*\\[\\{", ["*[{"], ["a[{"]],
    ["a\\\\b", ["a\\b"], ["ab"]],
    ["a.b^", ["a.b^"], ["axb^"]],
    ["😀*", ["😀", "😀x"], ["x"]],
    ["*x", ["😀".repeat(40) + "x"], ["😀".repeat(40)]], // backtracking would take hours
    ["a?b", ["a😀b", "a\ud83db", "a\ude00b"], ["a😀😀b"]],
    ["\udcff*", ["\udcffx"], ["\udcfex", "ÿ"]],
  ];
  for (const [glob, yes, no] of cases) {
    const matches = compileGlob(glob);
    for (const name of yes) assert.ok(matches(name), `${glob} ${name}`);
    for (const name of no) assert.ok(!matches(name), `${glob} not ${name}`);
  }
});

Deno.test("an invalid glob is rejected, instead of matching nothing", () => {
  for (
    const glob of ["{a", "a}", "}{", "[a", "a\\", "[z-a]", "{1..9}", "[😀]"]
  ) {
    assert.throws(
      () => compileGlob(glob),
      (error) =>
        error instanceof UsageError &&
        error.message.startsWith(`The pattern '${glob}' is invalid: `),
      glob,
    );
  }
});

/**
 * Returns the entries that a walk with a filter keeps: it enters only accepted directories, and drops empty ones if
 * there are patterns.
 */
function kept(
  include: string[],
  exclude: string[],
  paths: readonly string[],
): string[] {
  const filter = new PathFilter(include, exclude, compileGlob);
  const left = new Set<string>();
  const found: string[] = [];
  for (const path of paths) {
    if ([...left].some((directory) => path.startsWith(directory))) continue;
    const isDirectory = path.endsWith("/");
    const bare = isDirectory ? path.slice(0, -1) : path;
    const names = bare.split("/");
    const [name, depth] = [names.at(-1)!, names.length];
    if (filter.accepts({ path: bare, name, depth, isDirectory })) {
      found.push(path);
    } else if (isDirectory) left.add(path);
  }
  return filter.keepsAll ? found : found.filter((path) =>
    !path.endsWith("/") ||
    found.some((other) => other.startsWith(path) && !other.endsWith("/"))
  );
}

const TREE = [
  "a.jpg",
  "a.txt",
  "sub/",
  "sub/a.jpg",
  "sub/deep/",
  "sub/deep/a.jpg",
  "sub/deep/a.txt",
  "sub/empty/",
  "tmp/",
  "tmp/sub/",
  "tmp/sub/x",
];

Deno.test("without patterns everything is packed", () => {
  assert.deepEqual(kept([], [], TREE), TREE);
});

Deno.test("--exclude skips matches, and does not enter excluded directories", () => {
  assert.deepEqual(kept([], ["*.jpg", "/sub"], TREE), [
    "a.txt",
    "tmp/",
    "tmp/sub/",
    "tmp/sub/x",
  ]);
  assert.deepEqual(kept([], ["sub"], TREE), ["a.jpg", "a.txt", "tmp/"]);
  assert.deepEqual(kept([], ["sub/**", "tmp/**/x"], TREE), [
    "a.jpg",
    "a.txt",
    "sub/",
    "tmp/",
    "tmp/sub/",
  ]);
  assert.deepEqual(kept([], ["a.jpg/", "tmp/"], TREE), TREE.slice(0, 8));
});

Deno.test("--include keeps matching files, and directories for their content", () => {
  assert.deepEqual(kept(["*.jpg"], [], TREE), [
    "a.jpg",
    "sub/",
    "sub/a.jpg",
    "sub/deep/",
    "sub/deep/a.jpg",
  ]);
  assert.deepEqual(kept(["/*.jpg"], [], TREE), ["a.jpg"]);
  assert.deepEqual(kept(["sub/*.jpg"], [], TREE), ["sub/", "sub/a.jpg"]);
  assert.deepEqual(kept(["x", "/a.txt"], [], TREE), [
    "a.txt",
    "tmp/",
    "tmp/sub/",
    "tmp/sub/x",
  ]);
});

Deno.test("--include of a directory is every file in it", () => {
  const sub = TREE.filter((path) =>
    path.startsWith("sub/") && path !== "sub/empty/"
  );
  assert.deepEqual(kept(["/sub/"], [], TREE), sub);
  assert.deepEqual(kept(["sub"], ["*.txt"], TREE), [
    ...sub.filter((path) => !path.endsWith(".txt")),
    "tmp/",
    "tmp/sub/",
    "tmp/sub/x",
  ]);
});

Deno.test("--exclude takes precedence over --include", () => {
  assert.deepEqual(kept(["*.jpg"], ["deep"], TREE), [
    "a.jpg",
    "sub/",
    "sub/a.jpg",
  ]);
});
