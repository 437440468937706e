import type { ValueType } from "../dataset/spec.ts";

/**
 * Makes the bytes of a value. `args` are what stands behind the type in the spec of generation 1:
 * `["4", "big"]` for `int(4,big)`.
 *
 * The type of `value` is the encoder's own: `never` here lets any be assigned.
 */
export type Encoder = (
  value: never,
  ...args: string[]
) => Uint8Array | Promise<Uint8Array>;

/**
 * Makes a value, or the promise of one, of a record's bytes; it may keep and share their memory. `args`
 * are the type's, as those of an {@linkcode Encoder} are.
 */
export type Decoder = (
  bytes: Uint8Array<ArrayBuffer>,
  ...args: string[]
) => unknown;

/**
 * Encoders by the types' words: for `array(float32,4)`, the one of that whole word, which is called
 * with the value alone, or the one of `array`. Values of types that have none are bytes.
 */
export type Encoders = Readonly<Record<string, Encoder>>;

/** Decoders by the types' words, found as {@linkcode Encoders} are. */
export type Decoders = Readonly<Record<string, Decoder>>;

/**
 * The encoder or decoder of a type, if there is one, and the arguments that it is called with.
 *
 * @param codecs `null` where values are bytes.
 */
export function codecOf<Codec>(
  codecs: Readonly<Record<string, Codec>> | null,
  { word, name, args }: ValueType,
): { readonly codec: Codec | undefined; readonly args: readonly string[] } {
  const own = (word: string) =>
    codecs !== null && Object.hasOwn(codecs, word) ? codecs[word] : undefined;
  const whole = own(word);
  return whole === undefined
    ? { codec: own(name), args }
    : { codec: whole, args: [] };
}
