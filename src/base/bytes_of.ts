import { types } from "node:util";

/**
 * Views the bytes of a view or buffer, or returns `undefined`. Throws a `TypeError` if its memory is detached or
 * shrunk.
 */
export function bytesOf(data: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(data)) {
    refuseLost((data as ArrayBuffer).detached === true);
    return new Uint8Array(data);
  }
  if (!ArrayBuffer.isView(data)) return undefined;
  refuseLost(isLost(data));
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** A view of detached memory reports length 0; only calling a method reveals it. */
function isLost(view: ArrayBufferView): boolean {
  try {
    if (view instanceof DataView) view.byteLength;
    else Reflect.apply(Uint8Array.prototype.keys, view, []);
    return false;
  } catch {
    return true;
  }
}

function refuseLost(lost: boolean): void {
  if (!lost) return;
  throw new TypeError(
    "Cannot write the buffer: its memory was transferred or resized",
  );
}

/** Concatenates all parts into newly allocated memory. */
export function concatBytes(
  parts: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
