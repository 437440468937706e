/** `recordfs bag create` of random specs and lines: errors must have messages of the project. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { createDataset } from "../../../../src/cli/commands/bag/dataset_creation.ts";
import { linesInput } from "../../../../src/cli/commands/bag/datapoint_lines.ts";
import { UsageError } from "../../../../src/cli/exit.ts";
import { givenSpec } from "../../../../src/cli/input/given_spec.ts";
import { FormatError, RecordfsError } from "../../../../src/base/errors.ts";
import { DatasetReader } from "../../../../src/formats/bags/mod.ts";
import { withTempDir } from "../../../support/paths.ts";
import { assertFailed, recordfs } from "../../run_cli.ts";

/** Messages of JavaScript errors, which hint at a bug. */
const OF_JAVASCRIPT =
  /Cannot (?:read (?:propert|private)|destructure|convert|mix|set|access)|is not (?:a function|iterable|defined|a constructor)|Do not know how|\[object |undefined|call stack|Invalid (?:array|string|typed|count|code)|should not happen/;

/** JSON texts, including those that `JSON.stringify` never writes. */
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.oneof(
      fc.constantFrom("null", "true", "false", "0", "-0", "1.0", "1e999"),
      fc.constantFrom("NaN", "-Infinity", '""', "{}", "[]", "[[],[]]"),
      fc.constantFrom("9007199254740993", "-12345678901234567890", "1e-400"),
      fc.bigInt({ min: -(2n ** 140n), max: 2n ** 140n }).map(String),
      fc.string({ unit: "binary", maxLength: 5 }).map((s) => JSON.stringify(s)),
      fc.constantFrom('"\\ud800"', '"1"', '"AAEC"', '"<f4"', '"|u1"', '"<U3"'),
    ),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items}]`),
    fc.array(
      fc.tuple(
        fc.oneof(
          fc.constantFrom("$bytes", "$float", "$map", "$ext", "$timestamp"),
          fc.constantFrom("$array", "$file", "$int", "$", "__proto__", "data"),
          fc.constantFrom("dtype", "shape", "values", "type", "seconds", "a"),
          fc.constantFrom("nanoseconds", "toString", "constructor", "length"),
        ),
        tie("value"),
      ),
      { maxLength: 4 },
    ).map((entries) => `{${entries.map(([key, item]) => `"${key}":${item}`)}}`),
  ),
})).value;

/** Forms of values that JSON cannot represent, some of them valid. */
const special = fc.oneof(
  fc.tuple(
    fc.constantFrom("<f4", "|u1", "|b1", "<i8", "<U2", "<c8", ">i2", "O", "x"),
    fc.array(fc.constantFrom("0", "1", "2", "-1", "1.5", "9e9"), {
      maxLength: 3,
    }),
    fc.constantFrom("values", "data"),
    fc.oneof(jsonText, fc.constantFrom("[1, 2]", "[true]", '["a"]', '"AAAA"')),
  ).map(([dtype, shape, word, content]) =>
    `{"$array":{"dtype":"${dtype}","shape":[${shape}],"${word}":${content}}}`
  ),
  jsonText.map((type) => `{"$ext":{"type":${type},"data":"AA=="}}`),
  fc.tuple(jsonText, jsonText).map(([seconds, nanoseconds]) =>
    `{"$timestamp":{"seconds":${seconds},"nanoseconds":${nanoseconds}}}`
  ),
  fc.tuple(jsonText, jsonText).map(([key, item]) =>
    `{"$map":[[${key},${item}]]}`
  ),
);
const value = fc.oneof(jsonText, special);

const word = fc.oneof(
  fc.tuple(
    fc.constantFrom("array", "arraytree", "bytes", "i64", "int", "jpeg", "mp4"),
    fc.constantFrom("", "", "()", "(8)", "(1,big)", "(float32,2)", "(x,y)"),
    fc.constantFrom("", "", "[]"),
  ).map((parts) => parts.join("")),
  fc.tuple(
    fc.constantFrom(
      "msgpack",
      "png",
      "tree",
      "u64",
      "utf8",
      "own",
      "__proto__",
    ),
    fc.constantFrom("", "", "(-1)", "(99999999999)", "("),
    fc.constantFrom("", "", "[]", "[][]"),
  ).map((parts) => parts.join("")),
);
/** Returns a valid value of a type. */
function fitting(type: string): string {
  const item = /^(int|i64|u64)/.test(type)
    ? "5"
    : type.startsWith("utf8")
    ? '"text"'
    : type.startsWith("array")
    ? '{"$array":{"dtype":"<f4","shape":[2],"values":[1,2]}}'
    : '{"$bytes":"AAEC"}';
  return type.endsWith("[]") ? `[${item}]` : item;
}

const line = (type: string) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(`{"a":${fitting(type)}}`) },
    { weight: 3, arbitrary: value.map((text) => `{"a":${text}}`) },
    { weight: 1, arbitrary: value.map((text) => `{"a":[${text}]}`) },
    { weight: 1, arbitrary: value },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  ).map((text) => text.replaceAll("\n", " "));

/** A spec and lines. */
const input = word.chain((type) => {
  const own = JSON.stringify({ a: type });
  const key = fc.string({ unit: "binary", maxLength: 4 });
  return fc.tuple(
    fc.oneof(
      { weight: 9, arbitrary: fc.constant(own) },
      { weight: 1, arbitrary: jsonText.map((text) => `{"a":${text}}`) },
      { weight: 1, arbitrary: jsonText.map((text) => ` {${text}`) },
      {
        weight: 1,
        arbitrary: key.map((key) => JSON.stringify({ [key]: type })),
      },
    ),
    fc.array(line(type), { minLength: 1, maxLength: 2 }),
  );
});

/** Asserts that an error is one of the project, and that its message is not one of JavaScript. */
function assertOwn(error: unknown, what: string): asserts error is Error {
  const isOwn = error instanceof RecordfsError || error instanceof UsageError;
  assert.ok(isOwn, `${what}: ${error instanceof Error ? error.stack : error}`);
  assert.doesNotMatch(error.message.replace(what, ""), OF_JAVASCRIPT, what);
}

Deno.test("any spec and any lines become a dataset, or cause an error of recordfs", async () => {
  await withTempDir(async (dir) => {
    const out = `${dir}/out`;
    const runs = LONG ? 1000 : 300;
    let [written, refused] = [0, 0];
    const create = async (
      [spec, lines]: [string, string[]],
      generation: 1 | 2 | 3,
    ) => {
      fs.rmSync(out, { recursive: true, force: true });
      fs.writeFileSync(`${dir}/lines`, lines.join("\n"));
      const { signal } = new AbortController();
      const what = `${generation} ${spec} ${lines.join(" | ")}`;
      try {
        const types = givenSpec(spec);
        const input = await linesInput(
          `${dir}/lines`,
          types,
          generation,
          signal,
        );
        await createDataset(out, types, input, { generation }, signal);
        written++;
      } catch (error) {
        assertOwn(error, what);
        refused++;
        const isWhole = generation === 3 && fs.existsSync(out);
        if (isWhole) DatasetReader.openSync(out, { decoders: null }).close();
        else assert.deepEqual(fs.readdirSync(dir), ["lines"], what);
      }
    };
    await fc.assert(
      fc.asyncProperty(
        input,
        fc.constantFrom(1 as const, 2 as const, 3 as const),
        create,
      ),
      { numRuns: runs },
    );
    const isMixed = written > 0.08 * runs && refused > 0.3 * runs;
    assert.ok(isMixed, `${written}, ${refused}`);
  });
});

Deno.test("any JSON as spec.json is accepted, or rejected as a spec", async () => {
  await withTempDir(async (dir) => {
    await fc.assert(
      fc.asyncProperty(jsonText, jsonText, async (key, type) => {
        const text = key.startsWith('"') ? `{${key}:${type}}` : type;
        fs.writeFileSync(`${dir}/spec.json`, text);
        try {
          const dataset = await DatasetReader.open(dir);
          assert.ok(
            Object.values(dataset.spec).every((word) =>
              typeof word === "string"
            ),
          );
          dataset.close();
        } catch (error) {
          assertOwn(error, text);
          assert.ok(error instanceof FormatError, text);
        }
      }),
      { numRuns: LONG ? 1000 : 300 },
    );
  });
});

Deno.test("the command reports it in one line, with an exit code", async () => {
  await withTempDir(async (dir) => {
    const cases: [string, string, RegExp, string?][] = [
      ['{"a": 9007199254740993}', "{}", /--spec: the type of "a" is 9007199/],
      ['{"a": "array"}', '{"a": null}', /line 1: .*'a', .*"\$array".*not null/],
      [
        '{"a": "array"}',
        '{"a": 5}',
        /line 1: .*'a', .*"\$array".*not a number/,
      ],
      ['{"a": "array"}', '{"a": [1, 2]}', /"\$array".*not a list/],
      ['{"a": "array"}', '{"a": {}}', /"\$array".*not an object without them/],
      ['{"a": "array[]"}', '{"a": [null]}', /'a\[0\]', .*"\$array"/, "2"],
      [
        '{"a": "array"}',
        '{"a": {"$array": {"dtype": "<f4", "shape": [1], "values": [{"toString": 1}]}}}',
        /not an element of an array of '<f4'/,
      ],
    ];
    for (const [spec, text, words, generation = "3"] of cases) {
      fs.writeFileSync(`${dir}/lines`, `${text}\n`);
      const ran = await recordfs([
        ...["bag", "create", `${dir}/out`, `${dir}/lines`, "--spec", spec],
        ...["--generation", generation],
      ]);
      assertFailed(ran, 1, words);
      assert.deepEqual(fs.readdirSync(dir), ["lines"]);
    }
  });
});
