/** Functions that tests reference by module. */
import type { Random } from "../../src/data/random/random.ts";

/** The default export: negates a value. */
export default function negated(value: number): number {
  return -value;
}

export function squared(value: number): number {
  return value * value;
}

export function withRandom(value: number, random: Random): number {
  return value + random.float();
}
