/**
 * Parquet: {@linkcode ParquetReader} reads rows of tables in any order.
 *
 * @module
 */
export { ParquetReader } from "./read/parquet_reader.ts";
export type { ParquetOptions, ParquetRow } from "./read/row_samples.ts";
export type { ParquetValue } from "./values/render.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export type { Storage } from "../../io/storage/storage.ts";
export * from "../../base/errors.ts";
