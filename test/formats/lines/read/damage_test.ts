/** Damaged files of lines: each bad row is named, costs no other row, and is never silently accepted. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { runAsync } from "../../../../src/io/concurrency/steps.ts";
import { open } from "../../../../src/open/open.ts";
import { checked } from "../../../support/checked.ts";
import { FULL } from "../../../support/long.ts";
import { withTempDir } from "../../../support/paths.ts";

const QUIET = { onWarning() {} };

async function withFile(
  name: string,
  content: string | Uint8Array,
  body: (path: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/${name}`, content);
    await body(`${dir}/${name}`);
  });
}

/** Asserts that a check and the samples report each undecodable row, with its index, its line and the reason. */
async function assertFaults(
  name: string,
  content: string | Uint8Array,
  faults: readonly (readonly [row: number, line: number, why: RegExp])[],
): Promise<void> {
  await withFile(name, content, async (path) => {
    const { damages, samples } = await checked(path);
    assert.deepEqual(
      damages.map(({ sample, code, path }) => [sample, code, path]),
      faults.map(([row]) => [row, "bad-value", path]),
    );
    using opened = await openSamples(path, QUIET);
    assert.equal(opened.length, samples);
    for (const [i, [row, line, why]] of faults.entries()) {
      const { message } = damages[i]!;
      assert.ok(
        message.includes(`${row} of ${path}, in line ${line}: `),
        message,
      );
      assert.match(message, why);
      await assert.rejects(opened.get(row), (error: Error) => {
        assert.match(error.message, why);
        assert.match(error.message, new RegExp(`${row} of .*byte \\d+`));
        return true;
      });
      // Its bytes are readable.
      assert.ok((await opened.read(row)).content instanceof Uint8Array);
    }
    const sound = [...Array(samples).keys()]
      .filter((row) => !faults.some(([bad]) => bad === row));
    assert.equal((await opened.get(sound)).length, sound.length);
    const note = new RegExp(
      `^${faults.length} of ${samples} cannot be decoded`,
    );
    assert.match(opened.container!.info.notes![0]!, note);
  });
}

const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

Deno.test("lines that are not JSON, or not UTF-8, are named by line number", () =>
  assertFaults(
    "a.jsonl",
    latin1('{"a":1}\n\n{"a":\n{"a":"\xe9"}\n{"a":2} x\n{"a":3}\nnope\n'),
    [
      [1, 3, /not JSON/],
      [2, 4, /not UTF-8/],
      [3, 5, /not JSON/],
      [5, 7, /not JSON/],
    ],
  ));

Deno.test("a line that is nested too deeply is not JSON", () => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  return assertFaults(
    "a.jsonl",
    `${deep(900)}\n${deep(5000)}\n${deep(1_000_000)}\n{}\n`,
    [[1, 2, /nested|deep/], [2, 3, /nested|deep/]],
  );
});

Deno.test("rows with more or fewer cells, with text after a quote, or not in UTF-8 are named by line number", () =>
  assertFaults(
    "a.csv",
    latin1('a,b\n1,2\n3\n"x\n\ny",4,5\n6,"7"8\n"\xe9",9\n10,"11\n12"\n'),
    [
      [1, 3, /1 cells, and the header has 2/],
      [2, 4, /3 cells, and the header has 2/],
      [3, 7, /quotes do not match/],
      [4, 8, /not UTF-8/],
    ],
  ));

Deno.test("a truncated last row is an unreadable file, and not a sample", async () => {
  const cases = {
    "a.jsonl": '{"a":1}\n{"a":2}\n{"a":"th',
    "a.csv": 'a,b\n1,2\n3,4\n5,"six',
    "a.tsv": "a\tb\n1\t2\n3\t4\n5",
  };
  for (const [name, content] of Object.entries(cases)) {
    await withFile(name, content, async (path) => {
      const warnings: string[] = [];
      const onWarning = (message: string) => void warnings.push(message);
      using fs = await open(path, { onWarning });
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /000002\.\w+' in .*inside (line|row) 2/);
      const names = await fs.list();
      assert.equal(names.length, 3);
      await assert.rejects(fs.read(names[2]!), { code: "truncated-data" });
      assert.equal(fs.info.unreadable?.length, 1);
      assert.equal(fs.samples!.shards.length, 2);
      const { codes, samples } = await checked(path);
      assert.deepEqual([codes, samples], [["truncated-data"], 2]);
    });
  }
});

Deno.test("a last row without a newline is read; in CSV, a note says that it may be truncated", async () => {
  for (const name of ["a.jsonl", "a.csv"]) {
    const content = name === "a.csv" ? "a\n1\n2" : '{"a":1}\n{"a":2}';
    await withFile(name, content, async (path) => {
      using samples = await openSamples(path, QUIET);
      assert.deepEqual({ ...await samples.get(1) }, { a: 2 });
      assert.deepEqual(
        samples.container!.info.notes,
        name === "a.csv"
          ? ["its last row ends without a newline, and may be cut"]
          : undefined,
      );
      const { damages, warnings } = await checked(path);
      assert.deepEqual(damages, []);
      assert.equal(warnings.length, name === "a.csv" ? 1 : 0);
    });
  }
});

Deno.test("content that is not text is rejected, and its kind named", async () => {
  const png = Uint8Array.of(
    0x89,
    0x50,
    0x4e,
    0x47,
    13,
    10,
    26,
    10,
    0,
    0,
    0,
    13,
  );
  const utf16 = new Uint8Array(
    Uint16Array.from("a,b\n", (c) => c.charCodeAt(0)).buffer,
  );
  const cases: [string | Uint8Array, RegExp][] = [
    [png, /it is not (CSV|TSV|JSON lines): byte 8 is NUL/],
    [utf16, /byte 1 is NUL.*iconv -f UTF-16/],
    [
      Uint8Array.of(0x4c, 0x5a, 0x49, 0x50, 1, 12, 0, 0),
      /compressed by lzip|NUL/,
    ],
    [latin1("\xff\xfe\xfd\n"), /not UTF-8/],
  ];
  for (const name of ["a.csv", "a.tsv", "a.jsonl", "a.ndjson"]) {
    for (const [content, why] of cases) {
      await withFile(name, content, async (path) => {
        await assert.rejects(open(path), (error: Error) => {
          assert.ok(error.message.includes(path), error.message);
          assert.match(error.message, why);
          return true;
        });
        const { damages } = await checked(path);
        assert.equal(damages.length, 1);
      });
    }
  }
  // Quickly, however long the rest is.
  await withFile("a.jsonl", "no\n".repeat(100_000), async (path) => {
    await assert.rejects(open(path), {
      code: "bad-structure",
      message: /it is not JSON lines: line/,
    });
  });
});

Deno.test("a header that names no columns is rejected", async () => {
  const cases: Record<string, RegExp> = {
    'a,"b\n1,2\n': /its header: its last quote is not closed/,
    "a,b\r1,2\r3,4\r": /its header: it has carriage returns. Convert them/,
    'a,"b"c\n1,2\n': /its header: its quotes do not match/,
  };
  for (const [content, why] of Object.entries(cases)) {
    await withFile("a.csv", content, async (path) => {
      await assert.rejects(open(path), { code: "bad-structure", message: why });
    });
  }
});

Deno.test("columns without a name, or with a duplicate one, get a name of their own, with a note", () =>
  withFile("a.csv", "a,,a,column2,a~2\n1,2,3,4,5\n", async (path) => {
    using samples = await openSamples(path, QUIET);
    assert.deepEqual({ ...await samples.get(0) }, {
      a: 1,
      "column2~2": 2,
      "a~3": 3,
      column2: 4,
      "a~2": 5,
    });
    const notes = [
      "column 2 has no name, and is called 'column2~2'",
      "column 3 has the name 'a' again, and is called 'a~3'",
    ];
    assert.deepEqual(samples.container!.info.notes, notes);
    const { damages, warnings } = await checked(path);
    assert.deepEqual(damages, []);
    assert.deepEqual(warnings, notes.map((note) => `${path}: ${note}`));
  }));

Deno.test("a table of many columns has all of them, and lines with ever new keys are samples of their own", async () => {
  const names = Array.from({ length: 20_000 }, (_, i) => `c${i}`);
  await withFile(
    "a.csv",
    `${names.join()}\n${names.map((_, i) => i).join()}\n`,
    async (path) => {
      using samples = await openSamples(path);
      assert.equal(samples.fields!.length, names.length);
      assert.equal((await samples.get(0))["c19999"], 19_999);
    },
  );
  const lines = names.map((name, i) => `{"${name}":${i}}\n`);
  await withFile("a.jsonl", lines.join(""), async (path) => {
    using samples = await openSamples(path);
    assert.equal(samples.fields, undefined);
    assert.deepEqual({ ...await samples.get(12_345) }, { c12345: 12_345 });
    await assert.rejects(
      runAsync(samples.container!.samples!.portable!()),
      { code: "unsupported", message: /too many different fields/ },
    );
  });
});

Deno.test({
  name:
    "a row of a gigabyte is read in pieces, is not decoded, and does not take that much memory",
  ignore: !FULL,
  fn: () =>
    withTempDir(async (dir) => {
      const size = 2 ** 30;
      for (const name of ["a.csv", "a.jsonl"]) {
        const path = `${dir}/${name}`;
        const first = name === "a.csv" ? "a\n1\n" : '{"a":1}\n';
        fs.writeFileSync(path, first + "1".repeat(5000));
        const start = fs.statSync(path).size;
        fs.truncateSync(path, start + size); // a hole
        fs.appendFileSync(path, `\n${first.split("\n").at(-2)}\n`);
        using samples = await openSamples(path, QUIET);
        assert.equal(samples.length, 3);
        assert.equal((await samples.get(2))["a"], 1);
        await assert.rejects(samples.get(1), /more than 67108864 bytes/);
        const container = samples.container!;
        const [, second] = await container.list();
        let length = 0;
        for await (const piece of await container.stream(second!)) {
          length += piece.length;
        }
        assert.equal(length, 5000 + size);
        const { codes } = await checked(path);
        assert.deepEqual(codes, ["bad-value"]);
      }
      const { heapUsed, external } = Deno.memoryUsage(); // memory of this thread only
      assert.ok(heapUsed + external < 1.5 * size);
    }),
});
