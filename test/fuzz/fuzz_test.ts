/** The fuzzer finds planted bugs, saves and reproduces them, and finds nothing without them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { Draft } from "./draft.ts";
import { makeCase } from "./make_case.ts";
import { readOriginals } from "./originals.ts";
import { LONG } from "../support/long.ts";
import { fromFileUrl, REPOSITORY, withTempDir } from "../support/paths.ts";

const FUZZ = `${REPOSITORY}test/fuzz/main.ts`;

/** First case, in the unmutated GulpIO containers and those after them. */
const FROM = readOriginals()
  .findIndex(({ name }) => name === "gulp/v2_bad_unpaired");
const CASES = 60;
/** First case for bugs that only occur with single-file containers. */
const FROM_OTHER: Readonly<Record<string, number>> = { follows: 430 };

/** Bugs of `planted.ts`, and the kind of finding that each must cause. */
const PLANTED: Record<string, string> = {
  throws: "wrong-class",
  rejects: "uncaught",
  hangs: "hang",
  allocates: "memory",
  exits: "crash",
  differs: "disagreement",
  escapes: "escape",
  follows: "escape",
  leaks: "descriptors",
  lies: "wrong-bytes",
  echoes: "message",
};

/** Bugs that a quick run also replays: one that the worker reports, and one that kills it. The others work alike. */
const REPLAYED: ReadonlySet<string> = new Set(["throws", "exits"]);

async function fuzz(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", FUZZ, ...args],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, said: text(stdout) + text(stderr) };
}

/** Returns the options that plant a bug of `planted.ts`. */
function plant(bug: string): string[] {
  const module = fromFileUrl(new URL("planted.ts", import.meta.url));
  const patience = bug === "hangs" ? ["--patience", "2"] : [];
  return ["--with", `${module}?${bug}`, ...patience];
}

for (const [bug, kind] of Object.entries(PLANTED)) {
  Deno.test(`a reader that ${bug} is found, kept and reproduced`, async () => {
    await withTempDir(async (dir) => {
      const findings = `${dir}/findings`;
      const { code, said } = await fuzz(
        ...["--cases", `${CASES}`, "--from", `${FROM_OTHER[bug] ?? FROM}`],
        ...["--seed", "1", "--findings", findings],
        ...["--workers", "1", "--first"],
        ...plant(bug),
      );
      assert.equal(code, 1, said);
      const [name] = fs.readdirSync(findings);
      const { number, findings: found } = JSON.parse(
        fs.readFileSync(`${findings}/${name}/case.json`, "utf8"),
      );
      assert.equal(found[0].kind, kind, said);
      const place = `${findings}/${name}`;
      assert.ok(said.includes(`deno task fuzz --replay ${place}`), said);
      const text = fs.readFileSync(`${place}/finding.txt`, "utf8");
      assert.ok(text.includes(`--replay 1:${number}`), text);

      if (!LONG && !REPLAYED.has(bug)) return;
      const again = await fuzz("--replay", place, ...plant(bug));
      assert.equal(again.code, 1, again.said);
      assert.match(again.said, new RegExp(`^${kind} in `, "m"));
      if (bug !== "throws") return;
      const mended = await fuzz("--replay", place);
      assert.equal(mended.code, 0, mended.said);
    });
  });
}

Deno.test("the same seed and number make the same case, and others make different ones", () => {
  const originals = readOriginals();
  const made = (seed: number, number: number) => {
    const { original, draft } = makeCase(originals, seed, number);
    return [original.name, draft.log, [...draft.entries]];
  };
  const forward = Array.from({ length: 60 }, (_, i) => made(7, 500 + i));
  const backward = Array.from({ length: 60 }, (_, i) => made(7, 559 - i));
  assert.deepEqual(backward.reverse(), forward);
  assert.notDeepEqual(made(8, 500), forward[0]);
});

Deno.test("every original occurs unmutated once, and every mutation occurs", () => {
  const originals = readOriginals();
  assert.ok(originals.length > 250);
  const first = originals.map((_, i) => makeCase(originals, 1, i));
  assert.ok(first.every(({ draft }) => draft.log.length === 0));
  assert.deepEqual(first.map(({ original }) => original), originals);
  const wanted = new Set([
    "flip",
    "garbage",
    "endian",
    "cut",
    "zeros",
    "inserted",
    "replaced",
    "packed",
    "checksums",
    "document",
    "becomes",
    "JPEG",
    "PNG",
    "missing",
    "link",
    "exchanged",
    "moved",
    "record",
    "header",
    "entry",
    "shard",
  ]);
  // The more originals there are, the rarer is what fits few of them.
  for (let i = 0; i < 50_000 && wanted.size > 0; i++) {
    const { draft } = makeCase(originals, 1, 1000 + i);
    assert.ok(draft.log.length > 0);
    for (const line of draft.log) {
      for (const word of line.split(/\W+/)) wanted.delete(word);
    }
  }
  assert.deepEqual([...wanted], []);
});

Deno.test("a container is written as designed, including links and invalid names", async () => {
  await withTempDir((dir) => {
    const draft = new Draft(new Map([["a/b", Uint8Array.of(1)]]));
    draft.put("a/c", { kind: "link", target: "b" }, "");
    draft.put("a/b/d", { kind: "directory" }, "");
    draft.put(`a/${"x".repeat(300)}`, { kind: "directory" }, "");
    draft.write(dir);
    assert.deepEqual(fs.readdirSync(`${dir}/a`), ["b", "c"]);
    assert.equal(fs.readlinkSync(`${dir}/a/c`), "b");
  });
});

Deno.test("an invalid command line is reported, and nothing is run", async () => {
  for (
    const args of [["x"], ["1", "2", "3"], ["--nothing"], ["--cases", "-1"]]
  ) {
    const { code, said } = await fuzz(...args);
    assert.equal(code, 2, said);
    assert.match(said, /^fuzz: [^\n]+\n$/);
  }
  const help = await fuzz("--help");
  assert.equal(help.code, 0);
  assert.match(help.said, /^Usage: deno task fuzz/);
});
