/** Bytes of the table: 64 stores of 8 fields. */
const SIZE = 64 * 8 * BigInt64Array.BYTES_PER_ELEMENT;

let table = new SharedArrayBuffer(SIZE);

/** What this thread knows of stores that fail, for threads that it starts. It is loaded where nothing is remote, too. */
export function backoffTable(): SharedArrayBuffer {
  return table;
}

/** Has this thread go by what the one that started it knows. */
export function shareBackoffTable(other: SharedArrayBuffer): void {
  table = other;
}
