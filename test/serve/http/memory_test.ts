import assert from "node:assert/strict";
import {
  Budget,
  ConnectionRoom,
  OWN,
  ServerMemory,
} from "../../../src/serve/http/memory.ts";

const MIB = 1 << 20;

Deno.test("waiters for memory get it in order, and small requests do not overtake", async () => {
  const budget = new Budget(100);
  assert.ok(budget.take(80));
  const order: string[] = [];
  const large = budget.wait(50);
  const small = budget.wait(10);
  large.promise.then(() => order.push("large"));
  small.promise.then(() => order.push("small"));
  assert.ok(!budget.take(1));
  budget.give(20);
  await Promise.resolve();
  assert.deepEqual(order, []);
  budget.give(20);
  await small.promise;
  assert.deepEqual(order, ["large", "small"]);
  assert.equal(budget.free, 0);
});

Deno.test("a waiter that leaves lets the next ones continue, and gets nothing later", async () => {
  const budget = new Budget(100);
  assert.ok(budget.take(90));
  const large = budget.wait(50);
  const small = budget.wait(10);
  const failed = assert.rejects(large.promise, /gone/);
  large.leave(new Error("gone"));
  await failed;
  await small.promise;
  large.leave(new Error("again"));
  budget.give(90);
  assert.equal(budget.free, 90);
});

Deno.test("readers get a mebibyte each while memory is plentiful, and always something", () => {
  const threads = 2;
  const memory = new ServerMemory(threads);
  const rooms = Array.from({ length: 1000 }, () => new ConnectionRoom(memory));
  const sizes = rooms.map((room) => room.piece(MIB).length);
  assert.equal(sizes[0], MIB);
  assert.equal(sizes.at(-1), OWN);
  const beside = sizes.filter((size) => size > OWN);
  const lent = beside.reduce((sum, size) => sum + size, 0);
  assert.equal(memory.pieces.lent, lent);
  assert.ok(lent <= 128 * MIB / threads);
  // A room reuses its memory, and released memory goes to other rooms.
  assert.equal(rooms[0]!.piece(MIB).length, MIB);
  for (const room of rooms.slice(0, -1)) room.release();
  assert.equal(rooms.at(-1)!.piece(MIB).length, MIB);
  rooms.at(-1)!.release();
  assert.equal(memory.pieces.lent, 0);
});

Deno.test("whole responses take the available part of their share, and small ones more than large ones", () => {
  const memory = new ServerMemory(1);
  const rooms: ConnectionRoom[] = [];
  const take = (bytes: number) => {
    const room = new ConnectionRoom(memory);
    const isTaken = room.take(bytes) !== undefined;
    if (isTaken) rooms.push(room);
    return isTaken;
  };
  let large = 0;
  while (take(MIB)) large++;
  assert.ok(large > 10 && large < 128);
  let small = 0;
  while (take(100_000)) small++;
  assert.ok(small > 10);
  assert.ok(memory.answers.lent <= 128 * MIB);
  assert.ok(take(OWN)); // the own memory of each connection
  for (const room of rooms) room.release();
  assert.equal(memory.answers.lent, 0);
});

Deno.test("a response whose size is known later counts with its real size", async () => {
  const memory = new ServerMemory(1);
  const room = new ConnectionRoom(memory);
  await room.wait(3 * MIB);
  assert.equal(memory.answers.lent, 3 * MIB);
  room.made(5 * MIB);
  assert.equal(memory.answers.lent, 5 * MIB);
  room.release();
  assert.equal(memory.answers.lent, 0);
});

Deno.test("a piece is sent as a chunk without a copy", () => {
  const room = new ConnectionRoom(new ServerMemory(1));
  for (const size of [1, 15, 16, 4095, OWN, MIB]) {
    const piece = room.piece(size);
    assert.equal(piece.length, size);
    piece.fill(7);
    const chunk = room.asChunk(piece)!;
    const line = `${size.toString(16)}\r\n`;
    const text = new TextDecoder().decode(chunk);
    assert.ok(text.startsWith(line) && text.endsWith("\r\n"));
    assert.equal(chunk.length, line.length + size + 2);
    assert.ok(piece.every((byte) => byte === 7));
  }
  assert.equal(room.asChunk(new Uint8Array(8)), undefined);
});
