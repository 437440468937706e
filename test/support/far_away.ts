/** What comes of reading from different storages, in a form that can be compared. */
import * as fs from "node:fs";
import { RecordfsError } from "../../src/base/errors.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { sha256 } from "./golden.ts";

/** What a call answered, or how it failed; bytes by their hash, times left out. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return plain(await call());
  } catch (error) {
    return refused(error);
  }
}

/** {@linkcode outcome} of a call that does not wait. */
export function outcomeSync(call: () => unknown): unknown {
  try {
    return plain(call());
  } catch (error) {
    return refused(error);
  }
}

/** An error, with what it says. */
export function refused(error: unknown): unknown {
  if (!(error instanceof RecordfsError)) {
    const { name, message } = error as Error;
    return { refused: name, message };
  }
  const { name, code, message, path, sample, offset, expected, actual } = error;
  const facts = { path, sample, offset, expected, actual };
  return { refused: name, code, message, ...plain(facts) as object };
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `${value.length} ${sha256(value)}`;
  if (value instanceof Date) return "a time";
  if (ArrayBuffer.isView(value)) return plain([...value as Float64Array]);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, plain(part)]),
  );
}

/** Files of the disk in memory, under their own paths: the one at `path`, or all below it. */
export function inMemory(path: string): MemoryStorage {
  const files: Record<string, Uint8Array> = {};
  const add = (path: string) => {
    if (!fs.statSync(path).isDirectory()) files[path] = fs.readFileSync(path);
    else for (const name of fs.readdirSync(path)) add(`${path}/${name}`);
  };
  add(path);
  return new MemoryStorage(files);
}
