import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import { makeCommand } from "../../../../src/cli/commands/mount.ts";
import { plainMount } from "../../../../src/cli/mount/job/plain_mount.ts";

/** Parses arguments of `mount` by the full parser. */
async function parse(args: readonly string[]): Promise<unknown> {
  let parsed: unknown;
  const command = makeCommand().exitOverride().configureOutput({
    writeErr() {},
    writeOut() {},
    getErrHasColors: () => false,
    getOutHasColors: () => false,
  }).action((paths: readonly string[], options) => {
    const sources = paths.slice(0, -1);
    parsed = { sources, mountpoint: paths.at(-1), options };
  });
  try {
    await command.parseAsync(args, { from: "user" });
  } catch {
    return undefined;
  }
  return parsed;
}

const word = fc.constantFrom(
  ...[
    "-f",
    "--foreground",
    "--trace",
    "--no-verify",
    "-o",
    "--options",
    "--options=a,b",
  ],
  ...["--workers", "--workers=4", "--workers=65", "--ext=jpg", "--ext", "--"],
  ...["--subset", "--subset=a", "--shuffle", "--shuffle=1", "--epoch=0-9"],
  ...["--nested=", "--nested=.tar,zip", "--strip-suffix"],
  ...["--prefix", "--prefix=a/b", "--sources=[]", "c.ffr=d/e"],
  ...["--background", "-oro", "-fo", "--frobnicate", "-h", "--version", "-"],
  ...["data.ffr", "/mnt", "a b", "2", "uid=1", ""],
);

Deno.test("the short parser and the full parser read the same", async () => {
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 7 }), async (args) => {
      const found = plainMount(["mount", ...args]);
      if (found === undefined) return; // left to the full parser
      plain++;
      assert.deepEqual(found, await parse(args));
    }),
    { numRuns: 3000 },
  );
  assert.ok(plain > 30, `only ${plain} were plain`);
});

Deno.test("usual command lines are read by the short parser", () => {
  for (
    const line of [
      ["a.ffr", "/mnt/x"],
      ["-f", "a.ffr", "/mnt/x"],
      ["a.ffr", "b.ffr=train/b", "gulp/", "/mnt/x", "--prefix", "train"],
      ["--background", "/run/x.json", '--sources=[{"location":"/a=b"}]', "/m"],
      ["a.ffr", "/mnt/x", "-o", "uid=1000,allow_other", "--workers", "8"],
      ["--subset=a", "--shuffle", "1", "--epoch", "2", "a.ffr", "/mnt/x"],
      ["--nested", "dir", "/mnt/x"],
      ["--background", "/run/x.json", "--format=ffrecord", "--", "-a", "-b"],
    ]
  ) assert.ok(plainMount(["mount", ...line]) !== undefined, line.join(" "));
  // A value follows only after an equals sign.
  assert.deepEqual(plainMount(["mount", "--nested", "dir", "/mnt/x"]), {
    sources: ["dir"],
    mountpoint: "/mnt/x",
    options: { options: [], verify: true, cache: true, nested: true },
  });
  assert.equal(plainMount(["ls", "a.ffr", "/mnt/x"]), undefined);
  assert.equal(plainMount(["mount", "/mnt/x"]), undefined);
  assert.equal(plainMount([]), undefined);
});
