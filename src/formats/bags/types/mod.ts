/**
 * Encoders and decoders for the value types in bags.
 *
 * @module
 */
export type { Decoder, Decoders, Encoder, Encoders } from "./shipped.ts";
export {
  type IntDecoder,
  intDecoder,
  type IntEncoder,
  intEncoder,
  type IntOptions,
} from "./int.ts";
export { jsonToValue, valueToJson } from "./json_values.ts";
export { videoDecoder, videoEncoder } from "./media.ts";
export { type DecoderOptions, decodersOf, encodersOf } from "./shipped.ts";
export type {
  TreeContent,
  TreeValue,
} from "../../../codecs/values/array_tree.ts";
export { ValueError } from "./value_error.ts";
