import assert from "node:assert/strict";
import fc from "../../../support/random.ts";
import {
  type FrameSelection,
  selectFrames,
} from "../../../../src/formats/gulp/read/frame_selection.ts";
import { IndexError } from "../../../../src/base/errors.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

const select = (selection: FrameSelection, count: number) =>
  selectFrames(selection, count, () => "video");

const SCRIPT = `
import json, sys
for line in sys.stdin:
    count, start, stop, step = json.loads(line)
    print(json.dumps(list(range(count))[start:stop:step]))
`;

Deno.test({
  name: "slices work as in Python",
  ...needs("python3"),
  async fn() {
    const bounds = [null, 0, 1, 2, 4, 5, 6, 100, -1, -2, -5, -6, -100];
    const steps = [null, 1, 2, 3, 7, -1, -2, -3, -7];
    const rows: [number, number | null, number | null, number | null][] = [];
    for (const count of [0, 1, 2, 5]) {
      for (const start of bounds) {
        for (const stop of bounds) {
          for (const step of steps) rows.push([count, start, stop, step]);
        }
      }
    }
    const random = fc.oneof(
      fc.constant(null),
      fc.integer({ min: -50, max: 50 }),
      fc.maxSafeInteger(),
    );
    const count = fc.integer({ min: 0, max: 40 });
    const step = random.map((value) => value === 0 ? null : value);
    rows.push(...fc.sample(fc.tuple(count, random, random, step), 2000));

    const python = new Deno.Command(PYTHON, {
      args: ["-c", SCRIPT],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const input = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    const writer = python.stdin.getWriter();
    const written = writer.write(new TextEncoder().encode(input))
      .then(() => writer.close());
    const { stdout, success } = await python.output();
    await written;
    assert.ok(success);
    const answers = new TextDecoder().decode(stdout).trimEnd().split("\n");
    assert.equal(answers.length, rows.length);
    rows.forEach(([count, start, stop, step], i) => {
      assert.deepEqual(
        select({ start, stop, step }, count),
        JSON.parse(answers[i]!),
        JSON.stringify(rows[i]),
      );
    });
  },
});

Deno.test("indices may be negative, repeated and in any order", () => {
  assert.deepEqual(select([2, -1, 0, 2, -3], 3), [2, 2, 0, 2, 0]);
  assert.deepEqual(select([], 3), []);
  assert.deepEqual(selectFrames(Uint8Array.of(1, 0), 2, () => ""), [1, 0]);
  assert.deepEqual(selectFrames(undefined, 3, () => ""), [0, 1, 2]);
  assert.deepEqual(selectFrames(null, 3, () => ""), [0, 1, 2]);
});

Deno.test("an index that does not exist is an error that names it", () => {
  for (const index of [3, -4, 2 ** 40]) {
    assert.throws(
      () => select([0, index], 3),
      (error) =>
        error instanceof IndexError && error.index === index &&
        error.length === 3 && error.message.includes(`${index}`) &&
        error.message.includes("-3 to 2"),
    );
  }
  assert.throws(() => select([0], 0), /it has no frames/);
});

Deno.test("an invalid slice or index is an error", () => {
  assert.throws(
    () => select({ step: 0 }, 3),
    /slice step cannot be zero/,
  );
  for (const selection of [{ start: 1.5 }, { step: NaN }, [0.5], [NaN]]) {
    assert.throws(() => select(selection, 3), TypeError);
  }
  assert.throws(() => select(7 as unknown as number[], 3), TypeError);
});
