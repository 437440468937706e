import assert from "node:assert/strict";
import * as fc from "fast-check";
import { WordCounts } from "../../../src/serve/api/histograms.ts";

Deno.test("the most frequent words are those of all counted entries, in order", () => {
  const words = fc.array(fc.nat({ max: 12 }).map(String), { maxLength: 60 });
  fc.assert(fc.property(words, fc.nat({ max: 15 }), (words, most) => {
    const counts = new WordCounts(100);
    const expected = new Map<string, number>();
    for (const word of words) {
      counts.add(word);
      expected.set(word, (expected.get(word) ?? 0) + 1);
    }
    const sorted = [...expected].sort(([, a], [, b]) => b - a);
    assert.deepEqual(counts.top(most), sorted.slice(0, most));
  }));
});
