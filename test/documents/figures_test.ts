/** Figures in documents were measured: they are in the results that the documents name. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { machineName, withSection } from "../../bench/support/results.ts";
import { REPOSITORY } from "../support/paths.ts";

/** Returns the section with this heading. */
function sectionOf(text: string, name: string): string {
  const start = text.indexOf(`\n## ${name}\n`);
  assert.ok(start >= 0, `there is no section "${name}"`);
  const end = text.indexOf("\n## ", start + 1);
  return text.slice(start, end < 0 ? undefined : end);
}

for (
  const [page, count] of [
    ["README.md", 3],
    ["docs/compare.md", 2],
    ["docs/training.md", 8],
    ["docs/remote.md", 8],
  ] as const
) {
  Deno.test(`figures of ${page} are in the results that it names`, () => {
    const text = fs.readFileSync(REPOSITORY + page, "utf8");
    const figures = sectionOf(text, "How fast");
    const [, file] = /\]\((?:\.\.\/)?(bench\/results\/[\w.-]+\.md)\)/
      .exec(figures)!;
    const results = fs.readFileSync(REPOSITORY + file!, "utf8");
    const rows = [...figures.matchAll(/^\|[^|`]* \(?`(\w+)`.*$/gm)];
    assert.equal(rows.length, count);
    for (const [row, benchmark] of rows) {
      const section = sectionOf(results, benchmark!);
      const [, , ours, others, ratios] = row.split("|");
      const quoted = [
        ...ours!.match(/(?<=^ |; )[\d,.]+(?= )/g)!,
        ...others!.match(/(?<=: )[\d,.]+/g)!,
        ...ratios!.match(/[\d.]+(?=×)/g)!,
      ];
      for (const figure of quoted) {
        const whole = new RegExp(
          `(?<![\\d.,])${RegExp.escape(figure)}(?!,?\\d)`,
        );
        assert.match(section, whole, `${benchmark}: ${figure}`);
      }
    }
  });
}

Deno.test("results are named after machine and day, and a benchmark's section is replaced", () => {
  assert.equal(machineName("AMD EPYC 7763 64-Core Processor"), "amd-epyc");
  assert.equal(
    machineName("Intel(R) Xeon(R) Processor @ 2.50GHz"),
    "intel-xeon",
  );
  assert.equal(machineName(""), "unknown");
  const one = withSection("# A\n\nfacts\n", "loader", "| 1 |\n");
  assert.equal(one, "# A\n\nfacts\n\n## loader\n\n| 1 |\n");
  const two = withSection(one, "scale", "| 2 |\n");
  assert.equal(
    withSection(two, "loader", "| 3 |\n"),
    "# A\n\nfacts\n\n## loader\n\n| 3 |\n\n## scale\n\n| 2 |\n",
  );
  assert.equal(
    withSection(two, "scale", "| 3 |\n"),
    "# A\n\nfacts\n\n## loader\n\n| 1 |\n\n## scale\n\n| 3 |\n",
  );
});
