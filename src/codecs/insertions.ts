/** Bytes to insert before position `at`. */
export interface Insertion {
  readonly at: number;
  readonly bytes: Uint8Array;
}

export function inserted(
  file: Uint8Array,
  insertions: readonly Insertion[],
): Uint8Array {
  const more = insertions.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const made = new Uint8Array(file.length + more);
  let from = 0;
  let to = 0;
  for (const { at, bytes } of insertions.toSorted((a, b) => a.at - b.at)) {
    made.set(file.subarray(from, at), to);
    made.set(bytes, to + at - from);
    to += at - from + bytes.length;
    from = at;
  }
  made.set(file.subarray(from), to);
  return made;
}
