/** What a part of an hour is a step of, in times of DOS. */
const HOUR_BITS = 11;

let lastHour = -1;
let lastMilliseconds = 0;

/**
 * A date and time of DOS, which is of the place where it was written: taken for one of this place.
 *
 * @returns Milliseconds since 1970, or NaN where it is none.
 */
export function dosTime(date: number, time: number): number {
  const hour = date << 5 | time >>> HOUR_BITS;
  if (hour !== lastHour) {
    const [year, month, day] = [1980 + (date >> 9), date >> 5 & 15, date & 31];
    const isDate = month >= 1 && month <= 12 && day >= 1;
    lastMilliseconds = isDate
      ? new Date(year, month - 1, day, time >>> HOUR_BITS).getTime()
      : NaN;
    lastHour = hour;
  }
  return lastMilliseconds + (time >> 5 & 63) * 60_000 + (time & 31) * 2000;
}
