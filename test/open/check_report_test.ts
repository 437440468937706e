/** Report of `check` without options. */
import assert from "node:assert/strict";
import { check } from "../../mod.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { ffrBytes } from "../support/ffrecord/make_ffr.ts";

const samples = [3, 4, 5].map((length) => new Uint8Array(length).fill(length));

Deno.test("a report lists the damage if no callback takes it", async () => {
  const sound = ffrBytes(samples);
  const damaged = ffrBytes(samples);
  damaged[damaged.length - 1]! ^= 1;
  const storage = new MemoryStorage({ "a.ffr": sound, "b.ffr": damaged });
  assert.deepEqual((await check(sound)).damage, []);
  const report = await check("b.ffr", { storage });
  assert.equal(report.damaged, 1);
  assert.deepEqual(
    report.damage?.map(({ code, sample }) => [code, sample]),
    [["sample-checksum", 2]],
  );
  const found: string[] = [];
  const told = await check("b.ffr", {
    storage,
    onDamage: ({ code }) => found.push(code),
  });
  assert.deepEqual([found, told.damage], [["sample-checksum"], undefined]);
});
