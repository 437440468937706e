import { createHash, type Hash } from "node:crypto";

/** Returns a hash of any value. Equal values have equal hashes, whatever memory holds them. */
export function digestOf(value: unknown): string {
  const hash = createHash("sha1");
  add(hash, value);
  return hash.digest("hex");
}

function add(hash: Hash, value: unknown): void {
  // An explicit stack, since values nest deeper than the call stack allows.
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") {
      hash.update(`s${next.length} `).update(next, "utf16le");
    } else if (typeof next !== "object" || next === null) {
      hash.update(
        `${typeof next} ${Object.is(next, -0) ? "-0" : String(next)} `,
      );
    } else if (ArrayBuffer.isView(next)) {
      const { buffer, byteOffset, byteLength } = next;
      hash.update(`b${byteLength} `);
      hash.update(new Uint8Array(buffer, byteOffset, byteLength));
    } else if (Array.isArray(next)) {
      hash.update(`l${next.length} `);
      for (const item of next) waiting.push(item);
    } else if (next instanceof Date) {
      hash.update(`d${next.getTime()} `);
    } else {
      const entries = next instanceof Map ? [...next] : Object.entries(next);
      hash.update(`o${entries.length} `);
      for (const [key, item] of entries) waiting.push(key, item);
    }
  }
}
