import { types } from "node:util";

/** Called with a view, or a buffer, that is part of a value. */
export type BufferVisitor = (part: ArrayBufferView | ArrayBufferLike) => void;

/** Visits the typed arrays, views and buffers in a value, each once, as `postMessage` finds them. */
export function visitBuffers(value: unknown, visit: BufferVisitor): void {
  walk(value, visit, new Set());
}

/** The buffers that a value's views are of, shared ones included. */
export function buffersIn(value: unknown): Set<ArrayBufferLike> {
  const buffers = new Set<ArrayBufferLike>();
  visitBuffers(value, (part) => buffers.add(bufferOf(part)));
  return buffers;
}

/** The buffer of a view, or the buffer that it is. */
export function bufferOf(
  part: ArrayBufferView | ArrayBufferLike,
): ArrayBufferLike {
  return ArrayBuffer.isView(part) ? part.buffer : part;
}

function walk(value: unknown, visit: BufferVisitor, seen: Set<object>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (isPart(value)) return visit(value);
  if (value instanceof Map) {
    for (const [key, entry] of value) {
      walk(key, visit, seen);
      walk(entry, visit, seen);
    }
  } else if (Array.isArray(value) || value instanceof Set) {
    for (const entry of value) walk(entry, visit, seen);
  } else {
    for (const key of Object.keys(value)) {
      walk((value as Record<string, unknown>)[key], visit, seen);
    }
  }
}

/** Whether a value is a view or a buffer. */
export function isPart(
  value: object,
): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value);
}
