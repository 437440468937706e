import assert from "node:assert/strict";
import {
  CallError,
  type CallLimits,
  CallThreads,
} from "../../../src/io/concurrency/call_threads.ts";

const MODULE = import.meta.resolve("./call_threads_module.ts");
const LIMITS: CallLimits = {
  threads: 2,
  waiting: 2,
  timeout: 60_000,
  memory: 64,
};

/** Makes threads that are closed at the end. */
function threads(limits: Partial<CallLimits> = {}) {
  const made = new CallThreads("test", { ...LIMITS, ...limits });
  return {
    call(name: string, args: unknown[], isLong = false, signal?: AbortSignal) {
      const call = { module: MODULE, name, args, transfer: [] };
      return made.call(isLong, () => Promise.resolve(call), signal);
    },
    made,
    [Symbol.dispose]: () => made.close(),
  };
}

/** Makes a flag that a call waits for. */
function flag(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4));
}

const isOf = (code: CallError["code"]) => (error: unknown) =>
  error instanceof CallError && error.code === code;

Deno.test("calls return bytes, buffers are moved, and errors keep their class", async () => {
  using pool = threads();
  const bytes = Uint8Array.of(1, 2, 3);
  const result = await pool.made.call(false, () =>
    Promise.resolve({
      module: MODULE,
      name: "incremented",
      args: [bytes],
      transfer: [bytes.buffer],
    }));
  assert.deepEqual([...result], [2, 3, 4]);
  assert.equal(bytes.length, 0);
  await assert.rejects(pool.call("failing", []), {
    name: "RangeError",
    message: "too much",
  });
  // The same thread continues.
  assert.equal((await pool.call("incremented", [result])).length, 3);
});

Deno.test("short calls overtake long ones, and the queue is limited", async () => {
  using pool = threads();
  const told = flag();
  const long = pool.call("untilTold", [told], true);
  const waiting = [0, 1].map(() => pool.call("untilTold", [told], true));
  await assert.rejects(
    pool.call("untilTold", [told], true),
    isOf("busy"),
  );
  Atomics.store(told, 0, 1);
  await Promise.all([long, ...waiting]);

  Atomics.store(told, 0, 0);
  const other = pool.call("untilTold", [told], true);
  const next = pool.call("untilTold", [told], true);
  // Long calls never occupy both threads.
  assert.deepEqual([
    ...await pool.call("incremented", [Uint8Array.of(4)]),
  ], [5]);
  Atomics.store(told, 0, 1);
  await Promise.all([other, next]);
});

Deno.test("a caller that aborts stops waiting, and its call is never started", async () => {
  using pool = threads();
  const told = flag();
  const first = pool.call("untilTold", [told], true);
  const leaving = new AbortController();
  const reason = new Error("left");
  let isMade = false;
  const second = pool.made.call(true, () => {
    isMade = true;
    return Promise.reject(new Error("not to be made"));
  }, leaving.signal);
  leaving.abort(reason);
  await assert.rejects(second, reason);
  // An aborted caller stops waiting for a running call too.
  const running = new AbortController();
  const third = pool.call("untilTold", [told], false, running.signal);
  running.abort(reason);
  await assert.rejects(third, reason);
  Atomics.store(told, 0, 1);
  await first;
  await pool.call("incremented", [Uint8Array.of(1)], true);
  assert.ok(!isMade);
});

Deno.test("a call that exceeds the timeout fails, with a limit on lost threads", async () => {
  using pool = threads({ timeout: 1000 });
  const told = flag();
  for (let i = 0; i < 2; i++) {
    await assert.rejects(
      pool.call("untilTold", [told]),
      isOf("timeout"),
    );
  }
  // Deno can't interrupt running computations; no more threads start until these end.
  await assert.rejects(
    pool.call("incremented", [Uint8Array.of(1)]),
    isOf("timeout"),
  );
  Atomics.store(told, 0, 1);
  for (;;) {
    try {
      await pool.call("incremented", [Uint8Array.of(1)]);
      break;
    } catch (error) {
      assert.ok(isOf("timeout")(error));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});

Deno.test("closing ends running calls", async () => {
  const pool = threads();
  const told = flag();
  const call = pool.call("untilTold", [told]);
  const failed = assert.rejects(call, isOf("died"));
  await new Promise((resolve) => setTimeout(resolve, 100)); // wait until the call is running
  pool.made.close();
  await failed;
  Atomics.store(told, 0, 1);
});

Deno.test("a call that takes too much memory ends only its thread", async () => {
  using pool = threads();
  await assert.rejects(pool.call("greedy", []), isOf("died"));
  assert.deepEqual([
    ...await pool.call("incremented", [Uint8Array.of(7)]),
  ], [8]);
});
