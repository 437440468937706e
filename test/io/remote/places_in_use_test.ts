import assert from "node:assert/strict";
import * as fs from "node:fs";
import { CacheRoot } from "../../../src/io/remote/cache/cache_root.ts";
import { PlacesInUse } from "../../../src/io/remote/cache/places_in_use.ts";
import { withTempDir } from "../../support/paths.ts";

const OBJECT = "a".repeat(32);
const STATES = ["b".repeat(32), "c".repeat(32)] as const;
const OTHER = "d".repeat(32);

Deno.test("a program's long, sparse file lists exactly its entries", async () => {
  await withTempDir((directory) => {
    const root = new CacheRoot({ directory }, () => {});
    using programs = root.make(["programs"]);
    // Locked, as by a running program.
    using file = programs.makeFile(OTHER);
    assert.ok(file.tryLock(true));
    const places = STATES.map((state) => Uint8Array.fromHex(OBJECT + state));
    file.write(places[0]!, 0);
    file.write(places[1]!, 32 * 300_000);
    fs.truncateSync(`${directory}/programs/${OTHER}`, 2 ** 31);
    const all = PlacesInUse.of(root).all();
    assert.deepEqual([...all].sort(), [
      OBJECT,
      ...STATES.map((state) => `${OBJECT}/${state}`),
    ]);
    return Promise.resolve();
  });
});
