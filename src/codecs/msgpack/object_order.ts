/**
 * Whether a plain object can hold these keys in this order: all are strings, and those that number
 * elements, which an object sorts to its front, stand there already.
 */
export function objectKeepsOrder(keys: Iterable<unknown>): boolean {
  let last = -1;
  for (const key of keys) {
    if (typeof key !== "string") return false;
    if (isElementNumber(key)) {
      const number = Number(key);
      if (number < last) return false;
      last = number;
    } else last = Infinity;
  }
  return true;
}

/** The array indices of ECMAScript, up to 2^32 - 2. */
function isElementNumber(key: string): boolean {
  return /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
}
