/** API responses for partly damaged containers, which report the undamaged rest. */
import assert from "node:assert/strict";
import { open } from "../../../mod.ts";
import type {
  SearchLine,
  Statistics,
} from "../../../src/serve/api/messages.ts";
import { REPOSITORY } from "../../support/paths.ts";
import { linesOf, served } from "../../support/serve/served_folder.ts";

/** A dataset of eight datapoints. One list of words cannot be read, by its `expect.json`. */
const DATA = `${REPOSITORY}test/golden/bags/bad_ref_list_past_end/data`;

async function answered<T>(question: string): Promise<T[]> {
  await using server = served(await open(DATA));
  return await linesOf<T>(server, question);
}

Deno.test("statistics count a damaged list, and everything after it", async () => {
  const last = (await answered<Statistics>("statistics")).at(-1)!;
  assert.equal(last.isComplete, true);
  assert.equal(last.damaged, 1);
  const datapoints = last.kinds.find(({ kind }) => kind === "datapoint");
  assert.equal(datapoints?.count, 8);
});

Deno.test("a search continues after a damaged list, and reports how many there were", async () => {
  const lines = await answered<SearchLine>("search?glob=text");
  const found = lines.flatMap((line) => "entry" in line ? [line.entry] : []);
  assert.equal(found.length, 8);
  const last = lines.at(-1)!;
  assert.ok("isComplete" in last);
  assert.deepEqual([last.found, last.damaged, last.isCut], [8, 1, false]);
});
