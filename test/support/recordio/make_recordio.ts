/** Makes RecordIO files, by the descriptions of dmlc-core and MXNet. */

const MAGIC = 0xced7230a;

/** Returns a record of one part. */
export function partOf(data: Uint8Array, flag = 0): Uint8Array {
  const part = new Uint8Array(8 + Math.ceil(data.length / 4) * 4);
  const view = new DataView(part.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, (flag << 29 | data.length) >>> 0, true);
  part.set(data, 8);
  return part;
}

/** Returns an image record with one label, or a list of labels. */
export function imageRecord(
  label: number | readonly number[],
  id: number,
  content: Uint8Array,
): Uint8Array {
  const labels = typeof label === "number" ? [] : label;
  const record = new Uint8Array(24 + 4 * labels.length + content.length);
  const view = new DataView(record.buffer);
  view.setUint32(0, labels.length, true);
  view.setFloat32(4, typeof label === "number" ? label : 0, true);
  view.setBigUint64(8, BigInt(id), true);
  labels.forEach((one, i) => view.setFloat32(24 + 4 * i, one, true));
  record.set(content, 24 + 4 * labels.length);
  return record;
}

/** Returns a file of records that do not contain the magic number. */
export function recordioBytes(records: readonly Uint8Array[]): Uint8Array {
  const parts = records.map((record) => partOf(record));
  const bytes = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Returns the index of such a file, with keys from 0. */
export function recordioIndex(records: readonly Uint8Array[]): string {
  let at = 0;
  return records.map((record, key) => {
    const line = `${key}\t${at}\n`;
    at += partOf(record).length;
    return line;
  }).join("");
}
