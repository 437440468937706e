/**
 * Random numbers and permutations that follow from keys, the same on every machine.
 *
 * @module
 */
export { type Permutation, permutation } from "./permutation.ts";
export { Random } from "./random.ts";
