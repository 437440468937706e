/** Collects the results of a check, for tests of any format. */
import assert from "node:assert/strict";
import { FormatError } from "../../src/base/errors.ts";
import { check } from "../../src/open/open.ts";
import type { CheckReport } from "../../src/tree/format.ts";

type CheckArguments = Parameters<typeof check>;

/** Report of a check, and everything that its callbacks received. */
interface Checked extends CheckReport {
  readonly damages: FormatError[];
  readonly codes: string[];
  readonly warnings: string[];
  /** Bytes done, at each progress callback. */
  readonly done: number[];
  readonly totals: Set<number>;
}

/**
 * Checks a container. Asserts that the count equals the reported damages, and that progress is monotonic and bounded.
 */
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
