/** Commands on truncated containers: complete records are served, and truncated ones are named. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { handler } from "../../../src/serve/mod.ts";
import { open } from "../../../src/open/open.ts";
import { withTempDir } from "../../support/paths.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { needs } from "../../support/programs/programs.ts";
import { fileOf } from "../../support/tfrecord/make_tfrecord.ts";
import { recordfs } from "../run_cli.ts";
import { withMountPlace } from "../mount/mount_place.ts";

const CONTENTS = Array.from({ length: 10 }, (_, i) => `content ${i}`);

/** A container with these contents, the last of which are truncated. */
interface CutContainer {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Further files of the container, by name. */
  readonly beside?: Readonly<Record<string, Uint8Array>>;
  /** Options that name the format. */
  readonly flags: readonly string[];
  /** Names of the truncated contents. */
  readonly cut: readonly string[];
}

const CONTAINERS: readonly CutContainer[] = [
  {
    name: "c.tfrecord",
    bytes: fileOf(CONTENTS).subarray(0, -6),
    flags: [],
    cut: ["000009"],
  },
  {
    name: "c.ffr",
    bytes: ffrBytes(CONTENTS.map((text) => Buffer.from(text)))
      .subarray(0, 12 + 12 * 10 + 9 * 6 + 2),
    // A truncated file does not show whether it was a packed folder.
    flags: ["--format", "ffrecord-samples"],
    cut: ["000006", "000007", "000008", "000009"],
  },
  {
    name: "c.bag",
    bytes: Buffer.from(CONTENTS.join("")).subarray(0, 9 * 7 + 3),
    beside: { "c.idx": bagIndex(CONTENTS.map(({ length }) => length)) },
    flags: [],
    cut: ["000007", "000008", "000009"],
  },
];

/** Returns the index of a bag of generation 3: the ends of its records. */
function bagIndex(lengths: readonly number[]): Uint8Array {
  const index = Buffer.alloc(8 * lengths.length);
  let end = 0;
  for (const [i, length] of lengths.entries()) {
    index.writeBigUInt64LE(BigInt(end += length), 8 * i);
  }
  return index;
}

const CUT = /(?:'(\S+)'|(?:sample|record) (\d+)) (?:in|of) \S+: .*truncated/g;

/** Returns the names in messages about truncated contents. */
function named(text: string): string[] {
  return [...text.matchAll(CUT)]
    .map(([, name, sample]) => name ?? sample!.padStart(6, "0"));
}

function soundOf({ cut }: CutContainer): Record<string, string> {
  const sound = CONTENTS.slice(0, CONTENTS.length - cut.length);
  return Object.fromEntries(sound.map((text, i) => [`00000${i}`, text]));
}

/** Returns members of a tar of these samples. WebDataset takes the text after a dot as the field's name. */
function membersOf(samples: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(samples).map(([name, text]) => [`${name}.bin`, text]),
  );
}

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    fs.readdirSync(directory).sort().map((name) => [
      name,
      fs.readFileSync(`${directory}/${name}`, "utf8"),
    ]),
  );
}

for (const container of CONTAINERS) {
  const { name, bytes, flags, cut, beside = {} } = container;

  const write = (dir: string) => {
    fs.writeFileSync(`${dir}/${name}`, bytes);
    for (const [name, bytes] of Object.entries(beside)) {
      fs.writeFileSync(`${dir}/${name}`, bytes);
    }
  };

  const withFile = (
    body: (path: string, dir: string) => Promise<void>,
  ) =>
  () =>
    withTempDir(async (dir) => {
      write(dir);
      await body(`${dir}/${name}`, dir);
    });

  Deno.test(
    `${name}: ls, info and check name the truncated parts; check exits with 1`,
    withFile(async (path) => {
      const ls = await recordfs(["ls", ...flags, path]);
      assert.equal(ls.code, 0, ls.stderr);
      assert.deepEqual(named(ls.stderr), cut);
      assert.equal(ls.stdout.trim().split("\n").length, CONTENTS.length);
      const info = await recordfs(["info", ...flags, "--json", path]);
      assert.deepEqual(named(info.stderr), cut);
      const { facts, unreadable } = JSON.parse(info.stdout);
      assert.equal(facts.unreadable, cut.length);
      assert.deepEqual(
        unreadable.map(({ name }: { name: string }) => name),
        cut,
      );
      const check = await recordfs(["check", ...flags, path]);
      assert.equal(check.code, 1);
      assert.deepEqual(named(check.stdout + check.stderr), cut);
    }),
  );

  Deno.test(
    `${name}: extract writes the rest, and exits with 1, or 0 with --partial`,
    withFile(async (path, dir) => {
      for (const [more, code] of [[[], 1], [["--partial"], 0]] as const) {
        const to = `${dir}/to-${code}`;
        const ran = await recordfs(["extract", ...flags, ...more, path, to]);
        assert.equal(ran.code, code, ran.stderr);
        assert.deepEqual(filesIn(to), soundOf(container));
        assert.deepEqual(named(ran.stderr), cut);
      }
    }),
  );

  Deno.test(
    `${name}: convert writes nothing, and exits with 1; with --lossy it writes the rest`,
    withFile(async (path, dir) => {
      const from = flags.length > 0 ? ["--from", flags[1]!] : [];
      for (const to of ["x.tar", "x.tfrecord", "folder/"]) {
        const args = ["convert", ...from, path, `${dir}/${to}`];
        const refused = await recordfs(args);
        assert.equal(refused.code, 1, to);
        assert.ok(named(refused.stderr).includes(cut[0]!), refused.stderr);
        const files = [name, ...Object.keys(beside)];
        assert.deepEqual(fs.readdirSync(dir).sort(), files);
        const done = await recordfs([...args, "--lossy"]);
        assert.equal(done.code, 0, done.stderr);
        assert.deepEqual(
          to === "folder/"
            ? filesIn(`${dir}/${to}`)
            : await contentsOf(`${dir}/${to}`),
          to === "x.tar" ? membersOf(soundOf(container)) : soundOf(container),
        );
        fs.rmSync(`${dir}/${to}`, { recursive: true });
      }
    }),
  );

  Deno.test(
    `${name}: a server responds to reads of truncated parts with 500`,
    withFile(async (path) => {
      const warnings: string[] = [];
      using opened = await open(path, {
        format: flags[1],
        onWarning: (line) => warnings.push(line),
      });
      assert.deepEqual(warnings.flatMap(named), cut);
      const answer = handler(opened, { token: null, onError() {} });
      for (const name of [...Object.keys(soundOf(container)), ...cut]) {
        const url = `http://localhost/files/${name}`;
        const response = await answer(new Request(url));
        const text = await response.text();
        if (!cut.includes(name)) {
          assert.equal(text, CONTENTS[Number(name)]);
          continue;
        }
        assert.equal(response.status, 500);
        assert.deepEqual(named(text), [name]);
      }
    }),
  );

  Deno.test({
    name:
      `${name}: mount reports truncation before it goes to the background, and reads of it fail`,
    ...needs("fuse"),
    fn: () =>
      withMountPlace(async (place) => {
        const { dir, mountpoint } = place;
        write(dir);
        const { code, stderr } = await place.recordfs(
          ...["mount", ...flags, `${dir}/${name}`, mountpoint],
        );
        assert.equal(code, 0, stderr);
        assert.deepEqual(named(stderr), cut);
        const names = fs.readdirSync(mountpoint).sort();
        assert.deepEqual(names, [...Object.keys(soundOf(container)), ...cut]);
        for (const [name, text] of Object.entries(soundOf(container))) {
          assert.equal(
            fs.readFileSync(`${mountpoint}/${name}`, "utf8"),
            text,
          );
        }
        for (const name of cut) {
          assert.throws(() => fs.readFileSync(`${mountpoint}/${name}`), {
            code: "EIO",
          });
        }
      }),
  });
}

Deno.test("a truncated GulpIO chunk serves its complete videos, and skips the incomplete one", () =>
  withTempDir(async (dir) => {
    const { path } = gulpCase("v1_bad_truncated_data");
    const skips = /"v1_2" of .*truncated/;
    const info = await recordfs(["info", "--json", path]);
    assert.match(info.stderr, skips);
    const { facts, skipped } = JSON.parse(info.stdout);
    assert.equal(facts.skipped, 1);
    assert.deepEqual(
      skipped.map(({ name, kind, reason }: Record<string, string>) => [
        ...[name, kind, reason],
      ]),
      [["v1_2", "directory", "damaged"]],
    );
    for (const [flags, code] of [[[], 1], [["--partial"], 0]] as const) {
      const to = `${dir}/to-${code}`;
      const ran = await recordfs(["extract", ...flags, path, to]);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, skips);
      const names = ["v0_0", "v0_1", "v0_2", "v1_0", "v1_1", "v2_0", "v2_1"];
      assert.deepEqual(fs.readdirSync(to).sort(), [...names, "v2_2"]);
    }
    for (const to of ["x.tar", "g/"]) {
      const args = ["convert", path, `${dir}/${to}`];
      if (to === "g/") args.push("--to", "gulp");
      const refused = await recordfs(args);
      assert.equal(refused.code, 1, to);
      assert.match(refused.stderr, skips);
      assert.equal(fs.existsSync(`${dir}/${to}`), false);
      const done = await recordfs([...args, "--lossy"]);
      assert.equal(done.code, 0, done.stderr);
      using opened = await open(`${dir}/${to}`);
      assert.equal((await opened.list("")).length, 8);
    }
  }));

async function contentsOf(container: string): Promise<Record<string, string>> {
  using opened = await open(container);
  const found: [string, string][] = [];
  for await (const { path } of opened.walk()) {
    found.push([path, new TextDecoder().decode(await opened.read(path))]);
  }
  return Object.fromEntries(found);
}
