/**
 * Converts containers of all formats, and plain folders, to the formats that recordfs writes.
 *
 * @module
 */
export { convert } from "./convert.ts";
export {
  ConversionError,
  type ConversionPlan,
  type ConvertOptions,
  type ConvertProgress,
  type ConvertReport,
  type ConvertTarget,
  type ConvertUnit,
} from "../../convert/conversion.ts";
export type { Generation } from "../../formats/bags/dataset/dataset_names.ts";
export type { Spec } from "../../formats/bags/dataset/spec.ts";
export type * from "../../io/remote/remote_options.ts";
export type { WaitOptions } from "../../io/storage/byte_source.ts";
export { type ErrorFacts, RecordfsError } from "../../base/errors.ts";
