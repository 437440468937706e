/** Functions that threads of `call_threads_test.ts` call. */

/** Returns its argument with 1 added to each byte. */
export function incremented(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte + 1);
}

/** Computes until another thread sets a flag. */
export function untilTold(told: Int32Array): Uint8Array {
  while (Atomics.load(told, 0) === 0);
  return new Uint8Array(1);
}

/** Throws. */
export function failing(): never {
  throw new RangeError("too much");
}

/** Allocates memory without limit. */
export function greedy(): never {
  const all: unknown[] = [];
  for (;;) all.push({ more: [all.length] });
}
