import { FormatError } from "../../../errors.ts";
import { SHARD_NAME } from "./dataset_names.ts";

/** The name of shard `number`. */
export function shardName(number: number): string {
  return String(number).padStart(6, "0");
}

/**
 * Takes the names in the directory of a sharded dataset for shards.
 *
 * @param path The directory, for messages.
 * @param names In any order; those that start with `.` are not looked at.
 * @returns How many shards there are.
 * @throws {FormatError} If one is missing, or something else is there.
 */
export function countShards(path: string, names: Iterable<string>): number {
  const shards = new Set<string>();
  for (const name of names) {
    if (name.startsWith(".")) continue; // of the desktop, or a writer's temporary files
    if (!SHARD_NAME.test(name)) {
      throw new FormatError(
        "stray-file",
        `${path}: not a shard: ${name}. A sharded dataset holds only directories 000000, 000001, ...`,
        { path: `${path}/${name}` },
      );
    }
    shards.add(name);
  }
  for (let i = 0; i < shards.size; i++) {
    if (shards.has(shardName(i))) continue;
    throw new FormatError(
      "missing-shard",
      `${path}: shards must be numbered 000000, 000001, ...: of ${shards.size} shards, ` +
        `${shardName(i)} is missing`,
      { path, expected: shardName(i) },
    );
  }
  if (shards.size > 0) return shards.size;
  throw new FormatError(
    "missing-shard",
    `${path} is no dataset: it has neither spec.json nor shards`,
    { path },
  );
}

/** @throws {RangeError} If a number that says which shards, or how large ones, is none of those. */
export function requireWhole(
  name: string,
  value: number | undefined,
  least: number,
): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `${name} must be a whole number from ${least} on, not ${value}`,
  );
}
