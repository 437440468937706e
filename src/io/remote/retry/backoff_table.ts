/** Table size in bytes: 64 stores of 8 fields. */
const SIZE = 64 * 8 * BigInt64Array.BYTES_PER_ELEMENT;

let table = new SharedArrayBuffer(SIZE);

/** Returns the back-off state of stores, to share with threads. A small module, loaded even if nothing is remote. */
export function backoffTable(): SharedArrayBuffer {
  return table;
}

/** Makes this thread use the table of the thread that started it. */
export function shareBackoffTable(other: SharedArrayBuffer): void {
  table = other;
}
