/** Header of a picture whose size has not been checked yet. */
export interface FoundHeader {
  /** Pixels in a row. */
  readonly width: number;
  /** Rows. */
  readonly height: number;
  /** Channels that it decodes to, without alpha: 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
  readonly hasAlpha: boolean;
  readonly isCmyk: boolean;
  /** What it has that is not decoded, if anything. */
  readonly unsupported?: string | undefined;
}

/** Returns bytes as characters; shorter where the file ends. */
export function textAt(view: DataView, at: number, length: number): string {
  let text = "";
  const end = Math.min(at + length, view.byteLength);
  for (; at < end; at++) text += String.fromCharCode(view.getUint8(at));
  return text;
}

/** Runs a reader of a header; returns `undefined` if it reads beyond the end of a truncated file. */
export function untilEnd<T>(read: () => T | undefined): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
