/** The counts of `info` agree with the tree of every format, and its parts add up. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { countSamples } from "../../../src/open/data/counted_samples.ts";
import { open } from "../../../src/open/open.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import { FULL } from "../../support/long.ts";
import { COUNT, type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Compares the counts of a container with its tree. */
async function assertCounts(
  { name: format, isCounted = () => true }: FormatCase,
  path: string,
): Promise<{ length: number; samples: number }> {
  using shown = await open(path, { format, onWarning() {} });
  const { info } = shown;
  let [files, directories] = [0, 0];
  for await (const { path, isFile } of shown.walk()) {
    if (!isFile) directories++;
    else if (isCounted(path)) files++;
  }
  assert.deepEqual([info.files, info.directories], [files, directories], path);
  const sums = { bytes: 0, samples: 0 };
  for (const { path, bytes, samples } of info.parts) {
    assert.ok(fs.existsSync(path), path);
    sums.bytes += bytes;
    sums.samples += samples;
  }
  assert.ok(sums.bytes <= info.bytes, path); // indexes are not parts
  const { length } = countSamples(info);
  assert.equal((await samplesOf(shown.tree)).length, length, path);
  return { length, samples: sums.samples };
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: counts agree with the tree, and parts add up`, () =>
    withSmall(format, async (path) => {
      assert.deepEqual(await assertCounts(format, path), {
        length: COUNT,
        samples: format.parts ?? COUNT,
      });
      const sound = format.goldens.filter(({ isSound }) => isSound);
      for (const { path } of FULL ? sound : sound.slice(0, 4)) {
        await assertCounts(format, path);
      }
    }));
}
