import type { Size } from "../../codecs/image/short_edge.ts";

export type { Size };

/**
 * The size that a step was given: a number is that of a square.
 *
 * @param step The name of the step, for the message.
 * @throws {RangeError} If it is no size.
 */
export function sizeOf(size: number | Size, step: string): Size {
  const { height, width } = typeof size === "number"
    ? { height: size, width: size }
    : size;
  if (isLength(height) && isLength(width)) return { height, width };
  throw new RangeError(
    `${step} cannot have the size ${
      JSON.stringify(size)
    }: give a whole number of pixels, or ` +
      `{height, width}`,
  );
}

function isLength(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
