/** Asserts that damaged datasets are rejected by every consumer. */
import { openMds } from "./open_mds.ts";
import assert from "node:assert/strict";
import type { FieldValues } from "../../../src/tree/field_shards/field_samples.ts";
import type { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { check, open } from "../../../src/open/open.ts";

/** Reads samples of the dataset `d`. */
export function read(
  storage: MemoryStorage,
  indices = [0, 1, 2],
): Promise<FieldValues[]> {
  return openMds("d", { storage, onWarning() {} }).then(
    async (reader) => {
      try {
        return await reader.get(indices);
      } finally {
        reader.close();
      }
    },
  );
}

/** Asserts that reader, tree and check all report the same error. */
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
