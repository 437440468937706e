/** Lists as the writer writes them. */
import { columnsOf, openMds } from "../../../support/mds/open_mds.ts";
import assert from "node:assert/strict";
import {
  type MDSInput,
  MDSWriter,
} from "../../../../src/formats/mds/write/mds_writer.ts";
import { sha256 } from "../../../support/golden.ts";
import { mdsCase } from "../../../support/mds/mds_golden.ts";
import { withTempDir } from "../../../support/paths.ts";

Deno.test("lists equal those of an independent writer byte for byte", () =>
  withTempDir(async (dir) => {
    const { path, content: { samples } } = mdsCase("lists");
    using reader = await openMds(path);
    const columns = Object.fromEntries(columnsOf(reader));
    await using writer = await MDSWriter.open(`${dir}/out`, { columns });
    for (const [i, sample] of samples.entries()) {
      const stored = await reader.read(i);
      const values: Record<string, MDSInput> = {};
      for (const [name, { encoding }] of Object.entries(sample)) {
        values[name] = name === "label"
          ? i
          : encoding === "png"
          ? stored[name]!
          : elementsIn(stored[name]!, encoding);
      }
      await writer.write(values);
    }
    await writer.close();
    using again = await openMds(`${dir}/out`);
    for (const [i, sample] of samples.entries()) {
      for (const [name, bytes] of Object.entries(await again.read(i))) {
        assert.equal(sha256(bytes), sample[name]!.sha256, name);
      }
    }
  }));

/** Returns the elements of a list, decoded only from the format's description. */
function elementsIn(bytes: Uint8Array, encoding: string): Uint8Array[] {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = encoding.startsWith("list") ? 4 : 0;
  const count = words.getUint32(start, true);
  let at = start + 4 * (1 + count);
  return Array.from({ length: count }, (_, i) => {
    const size = words.getUint32(start + 4 * (1 + i), true);
    return bytes.subarray(at, at += size);
  });
}
