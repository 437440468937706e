import assert from "node:assert/strict";
import { DescriptorPool } from "../../../src/io/storage/descriptor_pool.ts";

Deno.test("who waits for descriptors is not passed by those who come later", async () => {
  const pool = new DescriptorPool<string>(() => 4);
  let opened = 0;
  const borrow = (owner: string) =>
    pool.borrow(owner, () => ({ fd: opened++, close() {} }));
  const leases = ["a", "b", "c", "d"].map(borrow);
  assert.ok(pool.isBusy);
  const calm = pool.calm();
  pool.release(leases[0]!);
  assert.ok(pool.isBusy); // three are in use, but somebody waits
  pool.release(leases[1]!);
  await calm;
  assert.ok(!pool.isBusy);
  pool.release(leases[2]!);
  pool.release(leases[3]!);
  assert.ok(!pool.isBusy);
});

Deno.test("where nobody waits, there is room for one as soon as one is given back", () => {
  const pool = new DescriptorPool<string>(() => 4);
  const leases = ["a", "b", "c", "d"].map((owner) =>
    pool.borrow(owner, () => ({ fd: 0, close() {} }))
  );
  assert.ok(pool.isBusy);
  pool.release(leases[0]!);
  assert.ok(!pool.isBusy);
});
