/**
 * Random numbers and permutations determined by keys, the same on every machine.
 *
 * @module
 */
export { permutation } from "./permutation.ts";
export { Random } from "./random.ts";
