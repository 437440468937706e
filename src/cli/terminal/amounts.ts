/** A number with its noun: `1 file`, `2 files`, `0 directories`. */
export function counted(
  count: number,
  one: string,
  several = `${one}s`,
): string {
  return `${count} ${count === 1 ? one : several}`;
}

/** Formats a time as `YYYY-MM-DD HH:MM`, in the local time zone. */
export function formatTime(time: Date): string {
  return time.toLocaleString("sv", { dateStyle: "short", timeStyle: "short" });
}

/** Formats a duration: `5s`, `1m20s`, `2h05m`, `3d04h`. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const [m, h, d] = [60, 3600, 86_400].map((unit) => Math.floor(whole / unit));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${m}m${two(whole % 60)}s`;
  if (whole < 86_400) return `${h}h${two(m! % 60)}m`;
  return `${d}d${two(h! % 24)}h`;
}

/** Shortest time to report a rate for, in seconds: in less, start-up, opening and closing files dominate. */
const SHORTEST = 0.1;
/** For fewer bytes, a rate needs the longer time below. */
const FEW_BYTES = 1e6;
const SHORTEST_OF_FEW = 1;

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** Formats an amount of data in decimal units, as disks are sold: `12 B`, `3.4 kB`, `1.0 GB`. */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  // Rounding must not result in 1000.0 kB.
  for (; amount >= 999.95 && unit < UNITS.length - 1; unit++) amount /= 1000;
  return `${amount.toFixed(unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}

/** Formats a rate for the end of a summary: `, 3.4 MB/s`. Empty if the amount or time is too small for a rate. */
export function rateAfter(bytes: number, seconds: number): string {
  const shortest = bytes < FEW_BYTES ? SHORTEST_OF_FEW : SHORTEST;
  if (bytes === 0 || !(seconds >= shortest)) return "";
  return `, ${formatBytes(bytes / seconds)}/s`;
}

/** Summarizes remote fetches: amount, requests, and reads answered from the cache. */
export function formatFetched(
  { bytes, requests, retries, hits }: {
    readonly bytes: number;
    readonly requests: number;
    readonly retries: number;
    readonly hits: number;
  },
): string {
  const again = retries === 0 ? "" : ` (${retries} again)`;
  return `${formatBytes(bytes)} in ${counted(requests, "request")}${again}, ${
    counted(hits, "hit")
  }`;
}
