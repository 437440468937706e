/**
 * Data loading for training: datasets of every format, samplers, and a resumable multi-threaded loader.
 *
 * @module
 */
export * from "../../formats/gulp/data/gulp.ts";
export * from "./datasets.ts";
export * from "../../data/loader/mod.ts";
export * from "../../data/random/mod.ts";
export * from "../../data/samplers/mod.ts";
export * from "../../data/sources/mod.ts";
export * from "../../data/transforms/mod.ts";
