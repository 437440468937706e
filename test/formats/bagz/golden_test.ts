/** Files that the original library wrote: every record, as it reads them, as samples and as files. */
import assert from "node:assert/strict";
import { check, open } from "../../../mod.ts";
import { goldenSet, sha256 } from "../../support/golden.ts";
import {
  assertSamples,
  type SamplesCase,
} from "../../support/samples_golden.ts";

interface BagzCase extends SamplesCase {
  /** Format or variant that opens it. */
  readonly kind: string;
}

for (const { name, path, kind, content } of goldenSet<BagzCase>("bagz").all()) {
  // Without a format, it is detected; the variant is not.
  const format = kind === "bagz" ? undefined : kind;

  Deno.test(`${name}: samples are what the library reads`, () =>
    assertSamples(path, content, format));

  // Compressed records begin as a compressed file does.
  Deno.test(`${name}: samples are the same if the format is named`, () =>
    assertSamples(path, content, kind));

  Deno.test(`${name}: files are what the library reads`, async () => {
    using tree = await open(path, { format });
    assert.equal(tree.info.format, "bagz");
    const files = await Array.fromAsync(tree.walk("", {}));
    const contents = content.samples.map(({ content }) => content);
    const read = files.filter(({ isFile }) => isFile).map(async ({ path }) => {
      const bytes = await tree.read(path);
      assert.equal((await tree.stat(path)).size, bytes.length);
      const half = Math.floor(bytes.length / 2);
      assert.deepEqual(
        await tree.readRange(path, half, bytes.length),
        bytes.subarray(half),
      );
      return { size: bytes.length, sha256: sha256(bytes) };
    });
    assert.deepEqual(await Promise.all(read), contents);
  });

  Deno.test(`${name}: a check finds nothing`, async () => {
    const { damage, samples } = await check(path, { format });
    assert.deepEqual([damage, samples], [[], content.samples.length]);
  });
}
