/** Records with changed bytes are either decoded or rejected by name, whatever the type. */
import assert from "node:assert/strict";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import {
  decodersOf,
  ValueError,
} from "../../../../src/formats/bags/types/mod.ts";
import { valueToJson } from "../../../../src/formats/bags/types/json_values.ts";
import type { TreeContent } from "../../../../src/codecs/values/array_tree.ts";
import { ImageError } from "../../../../src/codecs/image/mod.ts";
import { MsgpackError } from "../../../../src/codecs/msgpack/mod.ts";
import {
  goldenBags,
  parseType,
  recordsOf,
} from "../../../support/bags/bag_records.ts";

for (
  const name of [
    "bags/types",
    "granular/types",
    "granular2/types",
    "granular3/types",
  ]
) {
  const set = goldenBags(name);
  for (const [key, type] of Object.entries(set.spec)) {
    const { word, args } = parseType(type);
    const decode = decodersOf(set.generation)[word]!;
    const isImage = ["png", "jpg", "jpeg"].includes(word);
    const damaged = fc.record({
      record: fc.constantFrom(...recordsOf(set, key)),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      byte: fc.nat({ max: 255 }),
      kept: fc.double({ min: 0, max: 1.2, noNaN: true }),
    }).map(({ record, at, byte, kept }) => {
      const bytes = record.slice();
      if (bytes.length > 0) bytes[Math.floor(at * bytes.length)] = byte;
      return bytes.slice(0, Math.floor(kept * bytes.length));
    });
    Deno.test(`${name}: damaged records of ${key} (${type})`, async () => {
      await fc.assert(
        fc.asyncProperty(damaged, async (bytes) => {
          try {
            const value = await decode(bytes, ...args);
            if (!isImage) valueToJson(value as TreeContent);
          } catch (error) {
            const isNamed = error instanceof ValueError ||
              error instanceof MsgpackError || error instanceof ImageError;
            assert.ok(isNamed, `${error}`);
          }
        }),
        { numRuns: (isImage ? 30 : 300) / (LONG ? 1 : 3) },
      );
    });
  }
}
