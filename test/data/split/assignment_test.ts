import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import {
  type Assignment,
  randomAssignment,
  stratifiedAssignment,
} from "../../../src/data/split/assignment.ts";
import { LabelColumn } from "../../../src/data/split/label_column.ts";
import { Ratios } from "../../../src/data/split/ratios.ts";
import { stratifiedSizes } from "../../../src/data/split/stratified_sizes.ts";
import { range } from "../../support/list_dataset.ts";

/** Returns the indices of each split. */
function splitsOf(assignment: Assignment, length: number): number[][] {
  const splits: number[][] = assignment.sizes.map(() => []);
  for (let i = 0; i < length; i++) splits[assignment.next()]!.push(i);
  return splits;
}

function columnOf(labels: readonly (string | number)[]): LabelColumn {
  const column = new LabelColumn(labels.length);
  for (const label of labels) column.add(String(label));
  return column;
}

const ratios = Ratios.parse("0.8,0.1,0.1");

Deno.test("every sample is in one split, and splits have the stated sizes", () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 6000 }),
      fc.maxSafeNat(),
      fc.constantFrom("0.8,0.1,0.1", "1,1", "3,2,5,7", "1"),
      (length, seed, text) => {
        const assignment = randomAssignment(length, Ratios.parse(text), seed);
        const splits = splitsOf(assignment, length);
        assert.deepEqual(splits.map((split) => split.length), assignment.sizes);
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("a split follows from the seed", () => {
  const split = (seed: number) =>
    splitsOf(randomAssignment(1000, ratios, seed), 1000);
  assert.deepEqual(split(1), split(1));
  assert.notDeepEqual(split(1), split(2));
  assert.notDeepEqual(split(1)[0], range(0, 800));
});

Deno.test("every sample is equally likely in a split", () => {
  const times = new Array<number>(20).fill(0);
  const seeds = 2000;
  for (let seed = 0; seed < seeds; seed++) {
    const [, second] = splitsOf(
      randomAssignment(20, Ratios.parse("3,1"), seed),
      20,
    );
    for (const index of second!) times[index]!++;
  }
  // 500 are expected of each, with a standard deviation of 19.
  for (const count of times) assert.ok(Math.abs(count - 500) < 95, `${times}`);
});

Deno.test("neighbours are split independently", () => {
  const length = 40_000;
  const assignment = randomAssignment(length, Ratios.parse("1,1"), 3);
  const drawn = range(0, length).map(() => assignment.next());
  for (const distance of [1, 2, 64, 4096]) {
    const alike = drawn.filter((split, i) => split === drawn[i + distance])
      .length;
    const expected = (length - distance) / 2;
    assert.ok(Math.abs(alike - expected) < 500, `${distance}: ${alike}`); // five standard deviations
  }
});

Deno.test("each label is split by the ratios", () => {
  const labels = range(0, 1000).map((i) => i % 10 < 7 ? "cat" : "dog");
  const column = columnOf(labels);
  assert.deepEqual(column.counts, [700, 300]);
  const assignment = stratifiedAssignment(column, ratios, 5);
  const splits = splitsOf(assignment, 1000);
  assert.deepEqual(assignment.sizes, [800, 100, 100]);
  const cats = splits.map((split) =>
    split.filter((index) => labels[index] === "cat").length
  );
  assert.deepEqual(cats, [560, 70, 70]);
  assert.deepEqual(splits.flat().toSorted((a, b) => a - b), range(0, 1000));
  const other = splitsOf(stratifiedAssignment(column, ratios, 6), 1000);
  assert.notDeepEqual(other, splits);
});

Deno.test("with a label for each sample, every sample is equally likely in a split", () => {
  const column = columnOf(range(0, 20));
  const times = new Array<number>(20).fill(0);
  for (let seed = 0; seed < 2000; seed++) {
    const halves = Ratios.parse("3,1");
    const [, second] = splitsOf(stratifiedAssignment(column, halves, seed), 20);
    assert.equal(second!.length, 5);
    for (const index of second!) times[index]!++;
  }
  for (const count of times) assert.ok(Math.abs(count - 500) < 95, `${times}`);
});

Deno.test("stratified sizes fit the labels and the splits, each rounded down or up", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 3 }),
      (counts, parts) => {
        const given = Ratios.parse(parts.join(","));
        const sizes = stratifiedSizes(counts, given, counts.keys());
        const whole = parts.reduce((sum, part) => sum + part, 0);
        const total = counts.reduce((sum, count) => sum + count, 0);
        assert.deepEqual(
          parts.map((_, split) =>
            sizes.reduce((sum, own) => sum + own[split]!, 0)
          ),
          given.sizes(total),
        );
        sizes.forEach((own, label) => {
          assert.equal(own.reduce((sum, size) => sum + size, 0), counts[label]);
          own.forEach((size, split) => {
            const share = counts[label]! * parts[split]! / whole;
            assert.ok(
              Math.abs(size - share) < 1 + 1e-9,
              `${size} for ${share}`,
            );
          });
        });
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("any number of splits have the stated sizes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 4, maxLength: 9 }),
      (counts, parts) => {
        const given = Ratios.parse(parts.join(","));
        const sizes = stratifiedSizes(counts, given, counts.keys());
        const total = counts.reduce((sum, count) => sum + count, 0);
        assert.deepEqual(
          parts.map((_, split) =>
            sizes.reduce((sum, own) => sum + own[split]!, 0)
          ),
          given.sizes(total),
        );
        assert.deepEqual(
          sizes.map((own) => own.reduce((sum, size) => sum + size, 0)),
          counts,
        );
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("labels of different sizes are not all rounded alike", () => {
  // 600 labels of three samples and 600 of two: rounding must not favour one split in all of them.
  const counts = [...new Array(600).fill(3), ...new Array(600).fill(2)];
  const sizes = stratifiedSizes(counts, Ratios.parse("0.6,0.4"), counts.keys());
  const second = (own: readonly number[][]) =>
    own.reduce((sum, [, size]) => sum + size!, 0);
  assert.ok(Math.abs(second(sizes.slice(0, 600)) - 720) <= 1);
  assert.ok(Math.abs(second(sizes.slice(600)) - 480) <= 1);
});
