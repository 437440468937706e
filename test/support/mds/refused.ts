/** Datasets that are refused, whoever reads them. */
import assert from "node:assert/strict";
import { MDSReader, type MDSSample } from "../../../src/formats/mds/mod.ts";
import type { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { check, open } from "../../../src/open/mod.ts";

/** Reads samples of the dataset `d`. */
export function read(
  storage: MemoryStorage,
  indices = [0, 1, 2],
): Promise<MDSSample[]> {
  return MDSReader.open("d", { storage, onWarning() {} }).then(
    async (reader) => {
      try {
        return await reader.samples(indices);
      } finally {
        reader.close();
      }
    },
  );
}

/** Where something is wrong it is said by reader, tree and check, in the same way. */
export async function assertRefused(
  storage: MemoryStorage,
  code: string,
  message: RegExp,
): Promise<void> {
  await assert.rejects(read(storage), { code, message });
  await assert.rejects(async () => {
    using fs = await open("d", { storage, onWarning() {} });
    for await (const entry of fs.walk("")) {
      if (entry.isFile) await fs.read(entry.path);
    }
  }, { code, message });
  const damages: string[] = [];
  try {
    await check("d", { storage, onDamage: ({ code }) => damages.push(code) });
  } catch (error) {
    damages.push((error as { code: string }).code);
  }
  assert.deepEqual(damages, [code]);
}
