/**
 * Returns the name suffix for the option `ext`: `.jpg` for both `jpg` and `.jpg`.
 *
 * @throws {TypeError} If it is not valid in file names.
 */
export function nameSuffix(ext: string | undefined): string {
  if (ext === undefined || ext === "") return "";
  if (/[/\0]/.test(ext)) {
    throw new TypeError(`'${ext}' cannot be a part of file names`);
  }
  return ext.startsWith(".") ? ext : `.${ext}`;
}

/** Names that are numbers (`000042`, `frame_0001.jpg`): computed and parsed, so ten million take no memory. */
export class NumberedNames {
  readonly maxLength: number;
  readonly #width: number;
  readonly #suffix: Uint8Array;

  /** @param width Digits to pad to; larger numbers take the digits they need. */
  constructor(width: number, suffix: string) {
    this.#width = width;
    this.#suffix = new TextEncoder().encode(suffix);
    this.maxLength = Math.max(width, 16) + this.#suffix.length; // 2^53 has 16 digits
  }

  /** Writes the name of `number` to the start of `into` and returns its length. */
  write(number: number, into: Uint8Array): number {
    let digits = 1;
    for (let rest = number; rest >= 10; rest = Math.floor(rest / 10)) digits++;
    digits = Math.max(digits, this.#width);
    let rest = number;
    for (let i = digits - 1; i >= 0; i--) {
      into[i] = 48 + rest % 10;
      rest = Math.floor(rest / 10);
    }
    const suffix = this.#suffix;
    for (let i = 0; i < suffix.length; i++) into[digits + i] = suffix[i]!;
    return digits + suffix.length;
  }

  /** Parses the name `name[start … end]`; returns its number, or -1. */
  parse(name: Uint8Array, start: number, end: number): number {
    const suffix = this.#suffix;
    const digits = end - start - suffix.length;
    if (digits < this.#width || digits > 16) return -1;
    for (let i = 0; i < suffix.length; i++) {
      if (name[start + digits + i] !== suffix[i]) return -1;
    }
    // A number longer than the padding must not start with 0, so that each number has one name.
    if (digits > this.#width && name[start] === 48) return -1;
    let number = 0;
    for (let i = start; i < start + digits; i++) {
      const digit = name[i]! - 48;
      if (digit < 0 || digit > 9) return -1;
      number = number * 10 + digit;
    }
    return Number.isSafeInteger(number) ? number : -1;
  }
}

/** Minimum digits in names of samples, records, datapoints and list elements. */
const LEAST_DIGITS = 6;

/** Returns the digits of names for numbers from 0 to `count` (exclusive). */
export function widthFor(count: number, least = LEAST_DIGITS): number {
  let digits = least;
  for (let most = 10 ** least; most < count; most *= 10) digits++;
  return digits;
}

const numbered = new Map<string, NumberedNames[]>();

/** Returns names for `count` items from 0, padded to one width, at least `least` digits, so they sort by number. */
export function numberedNames(
  count: number,
  suffix: string,
  least = LEAST_DIGITS,
): NumberedNames {
  const digits = widthFor(count, least);
  let names = numbered.get(suffix);
  if (names === undefined) numbered.set(suffix, names = []);
  return names[digits] ??= new NumberedNames(digits, suffix);
}
