/** Results of reads from different storages, in a form that can be compared. */
import * as fs from "node:fs";
import { RecordfsError } from "../../src/base/errors.ts";
import { MemoryStorage } from "../../src/io/storage/memory_storage.ts";
import { sha256 } from "./golden.ts";

/** Returns the result of a call, or its error. Bytes are replaced by their hash, and times by a constant. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return plain(await call());
  } catch (error) {
    return refused(error);
  }
}

/** {@linkcode outcome} of a synchronous call. */
export function outcomeSync(call: () => unknown): unknown {
  try {
    return plain(call());
  } catch (error) {
    return refused(error);
  }
}

/** Returns the class, message and fields of an error. */
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

/** Copies the file at `path`, or all files below it, to a memory storage under the same paths. */
export function inMemory(path: string): MemoryStorage {
  const files: Record<string, Uint8Array> = {};
  const add = (path: string) => {
    if (!fs.statSync(path).isDirectory()) files[path] = fs.readFileSync(path);
    else for (const name of fs.readdirSync(path)) add(`${path}/${name}`);
  };
  add(path);
  return new MemoryStorage(files);
}
