/** What a check tells, for tests of any format. */
import assert from "node:assert/strict";
import { FormatError } from "../../src/base/errors.ts";
import { check } from "../../src/open/open.ts";
import type { CheckReport } from "../../src/tree/format.ts";

type CheckArguments = Parameters<typeof check>;

/** What a check has told. */
interface Checked extends CheckReport {
  readonly damages: FormatError[];
  readonly codes: string[];
  readonly warnings: string[];
  /** Bytes that were done, each time that it was told. */
  readonly done: number[];
  readonly totals: Set<number>;
}

/** Checks a container; what is counted is what is told, and progress never goes back, nor past the total. */
export async function checked(
  location: CheckArguments[0],
  options: Omit<CheckArguments[1], "onDamage"> = {},
): Promise<Checked> {
  const damages: FormatError[] = [];
  const warnings: string[] = [];
  const done: number[] = [];
  const totals = new Set<number>();
  const report = await check(location, {
    ...options,
    onDamage: (damage) => void damages.push(damage),
    onWarning: (message) => void warnings.push(message),
    onProgress(at, total) {
      done.push(at);
      totals.add(total);
      assert.ok(at <= total);
    },
  });
  assert.equal(report.damaged, damages.length);
  assert.ok(damages.every((damage) => damage instanceof FormatError));
  assert.deepEqual(done, done.toSorted((a, b) => a - b));
  const codes = damages.map(({ code }) => code);
  return { ...report, damages, codes, warnings, done, totals };
}
