/** Julian day number of 1970-01-01; INT96 stores Julian days. */
const JULIAN_1970 = 2_440_588n;
const NANOS_OF_DAY = 86_400_000_000_000n;

/** Range of `Date` in seconds. */
const MOST_SECONDS = 8_640_000_000_000n;

/** Formats a decimal exactly, with trailing zeros, as in `12.30`. */
export function decimalText(
  stored: number | bigint | Uint8Array,
  scale: number,
): string {
  const unscaled = stored instanceof Uint8Array
    ? signedOf(stored)
    : BigInt(stored);
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  if (scale <= 0 || scale > 1000) {
    return scale === 0 ? sign + digits : `${sign}${digits}e${-scale}`;
  }
  const padded = digits.padStart(scale + 1, "0");
  const point = padded.length - scale;
  return `${sign}${padded.slice(0, point)}.${padded.slice(point)}`;
}

/** Decodes a big-endian integer in two's complement. */
function signedOf(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${bytes.toHex()}`));
}

export function uuidText(bytes: Uint8Array): string {
  const hex = bytes.toHex();
  const parts = [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]] as const;
  return parts.map(([start, end]) => hex.slice(start, end)).join("-");
}

/** Returns an INT96's nanoseconds since 1970: 8 bytes of nanoseconds in the day (signed), 4 of the Julian day. */
export function int96Nanos({ buffer, byteOffset }: Uint8Array): bigint {
  const view = new DataView(buffer, byteOffset, 12);
  const days = BigInt(view.getInt32(8, true)) - JULIAN_1970;
  return days * NANOS_OF_DAY + view.getBigInt64(0, true);
}

/** Formats a time of day, with the given number of fraction digits. */
export function timeText(stored: bigint, digits: number): string {
  const [seconds, fraction] = divided(stored, digits);
  const two = (number: bigint) => String(number).padStart(2, "0");
  const hours = seconds / 3600n;
  const text = `${two(hours)}:${two(seconds / 60n % 60n)}:${
    two(seconds % 60n)
  }`;
  return digits === 0
    ? text
    : `${text}.${String(fraction).padStart(digits, "0")}`;
}

/** Formats a date or timestamp as ISO 8601; beyond the range of `Date`, as a number of seconds. */
export function momentText(
  stored: bigint,
  digits: number,
  form: "date" | "timestamp",
  utc: boolean,
): string {
  const [seconds, fraction] = divided(stored, digits);
  if (seconds > MOST_SECONDS || seconds < -MOST_SECONDS) {
    return digits === 0
      ? String(seconds)
      : `${seconds}.${String(fraction).padStart(digits, "0")}`;
  }
  const [date, time] = new Date(Number(seconds) * 1000).toISOString().split(
    "T",
  );
  if (form === "date") return date!;
  const parts = digits === 0
    ? ""
    : `.${String(fraction).padStart(digits, "0")}`;
  return `${date}T${time!.slice(0, 8)}${parts}${utc ? "Z" : ""}`;
}

/** Formats a duration as ISO 8601: its seconds, with the given number of fraction digits. */
export function durationText(stored: bigint, digits: number): string {
  return `PT${decimalText(stored, digits)}S`;
}

/** Divides to whole units and a non-negative remainder. */
function divided(stored: bigint, digits: number): readonly [bigint, bigint] {
  const unit = 10n ** BigInt(digits);
  const rest = (stored % unit + unit) % unit;
  return [(stored - rest) / unit, rest];
}
