import type { ServedCounts } from "../../fuse/request_counts.ts";
import type { Server } from "../../fuse/server.ts";

/** How often what was counted is written, in milliseconds, as long as it changes. */
const EVERY_MS = 1000;

/**
 * Writes what a server counts to a file, added to what the servers before it have counted.
 *
 * @returns Stops that.
 */
export function keepCounts(path: string, server: Server): () => void {
  const before = readCounts(path);
  let last = "";
  const timer = setInterval(() => {
    const text = JSON.stringify(add(before, server.counts));
    if (text === last) return;
    try {
      Deno.writeTextFileSync(`${path}.part`, text, { mode: 0o600 });
      Deno.renameSync(`${path}.part`, path);
      last = text;
    } catch {
      // A full disk, perhaps: they are tried again, and the mount goes on.
    }
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** What has been counted of a mount so far; nothing where that is not known yet. */
export function readCounts(path: string): ServedCounts {
  try {
    return JSON.parse(Deno.readTextFileSync(path)) as ServedCounts;
  } catch {
    return { requests: {}, bytes: 0, errors: 0 };
  }
}

function add(a: ServedCounts, b: ServedCounts): ServedCounts {
  const requests: Record<string, number> = { ...a.requests };
  for (const [name, count] of Object.entries(b.requests)) {
    requests[name] = (requests[name] ?? 0) + count;
  }
  return {
    requests,
    bytes: a.bytes + b.bytes,
    errors: a.errors + b.errors,
  };
}
