/** Exponent of the base, by first letter of the suffix. */
const POWERS: Readonly<Record<string, number>> = {
  "": 0,
  K: 1,
  M: 2,
  G: 3,
  T: 4,
};

/**
 * Parses a size as GNU coreutils do: `64M` and `64MiB` are 64 × 2^20 bytes, `64MB` are 64 × 10^6. Returns `undefined`
 * if the text is not a size, or one of 2^53 or more.
 */
export function sizeOf(text: string): number | undefined {
  const [, number, letter = "", suffix = ""] =
    /^(\d+(?:\.\d+)?) ?(?:([KMGT])(iB|B)?|B)?$/i.exec(text) ?? [];
  if (number === undefined) return undefined;
  const base = suffix.toUpperCase() === "B" ? 1000 : 1024;
  const bytes = Math.floor(
    Number(number) * base ** POWERS[letter.toUpperCase()]!,
  );
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
