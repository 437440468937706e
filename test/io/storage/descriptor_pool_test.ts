import assert from "node:assert/strict";
import { DescriptorPool } from "../../../src/io/storage/descriptor_pool.ts";

Deno.test("later requests do not overtake a waiter for descriptors", async () => {
  const pool = new DescriptorPool<string>(() => ({
    mostIdle: 4,
    crowdedFrom: Infinity,
  }));
  let opened = 0;
  const borrow = (owner: string) =>
    pool.borrow(owner, () => ({ fd: opened++, close() {} }));
  const leases = ["a", "b", "c", "d"].map(borrow);
  assert.ok(pool.isBusy);
  const calm = pool.calm();
  pool.release(leases[0]!);
  assert.ok(pool.isBusy); // three are in use, and a waiter is next
  pool.release(leases[1]!);
  await calm;
  assert.ok(!pool.isBusy);
  pool.release(leases[2]!);
  pool.release(leases[3]!);
  assert.ok(!pool.isBusy);
});

Deno.test("without waiters, there is room for one as soon as one is released", () => {
  const pool = new DescriptorPool<string>(() => ({
    mostIdle: 4,
    crowdedFrom: Infinity,
  }));
  const leases = ["a", "b", "c", "d"].map((owner) =>
    pool.borrow(owner, () => ({ fd: 0, close() {} }))
  );
  assert.ok(pool.isBusy);
  pool.release(leases[0]!);
  assert.ok(!pool.isBusy);
});

Deno.test("a thread retains fewer descriptors while all threads have many, and more afterwards", () => {
  let next = 0;
  const open = new Set<number>();
  const pool = new DescriptorPool<number>(() => ({
    mostIdle: 16,
    crowdedFrom: 100,
  }));
  const use = (owner: number) =>
    pool.release(pool.borrow(owner, () => {
      const fd = next++;
      open.add(fd);
      return { fd, close: () => open.delete(fd) };
    }));
  for (let i = 0; i < 20; i++) use(i);
  assert.equal(open.size, 16);
  next = 100; // other threads use all lower descriptors
  for (let i = 20; i < 24; i++) use(i);
  assert.ok(open.size <= 3, String(open.size));
  next = 0;
  for (let i = 24; i < 60; i++) use(i);
  assert.equal(open.size, 16);
});

Deno.test("without free descriptors, idle ones are closed, and busy ones waited for", () => {
  const pool = new DescriptorPool<string>(() => ({
    mostIdle: 16,
    crowdedFrom: 100,
  }));
  const open = new Set<string>();
  let refusals = 0;
  const use = (owner: string) =>
    pool.release(pool.borrow(owner, () => {
      if (refusals-- > 0) {
        throw Object.assign(new Error("too many"), { code: "EMFILE" });
      }
      open.add(owner);
      return { fd: 5, close: () => open.delete(owner) };
    }));
  for (const owner of ["a", "b", "c"]) use(owner);
  refusals = 3;
  use("d");
  assert.deepEqual([...open], ["d"]);
  refusals = Infinity;
  assert.throws(() => use("e"), { code: "EMFILE" });
});
