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

/** Makes a value, or the promise of one, of bytes; it may keep and share their memory. */
export type Decoder = (
  bytes: Uint8Array<ArrayBuffer>,
  ...args: string[]
) => unknown;

/** Encoders by the types' words. */
export type Encoders = Readonly<Record<string, Encoder>>;

/** Decoders by the types' words. */
export type Decoders = Readonly<Record<string, Decoder>>;

/** The generations of the format: 1 is bags and granular to 0.19, 2 granular 0.20 and 0.21, 3 from 0.22. */
export type Generation = 1 | 2 | 3;
