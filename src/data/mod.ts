/**
 * Loading data for training: datasets of every format, samplers, and a loader with threads that continues
 * where it stopped.
 *
 * @module
 */
export * from "./datasets/mod.ts";
export * from "./loader/mod.ts";
export * from "./random/mod.ts";
export * from "./samplers/mod.ts";
export * from "./sources/mod.ts";
