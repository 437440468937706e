/**
 * Encoders and decoders for the value types in bags.
 *
 * @module
 */
export { intDecoder, intEncoder } from "./int.ts";
export { videoDecoder, videoEncoder } from "./media.ts";
export {
  type Decoders,
  decodersOf,
  type Encoders,
  encodersOf,
} from "./shipped.ts";
export { ValueError } from "./value_error.ts";
