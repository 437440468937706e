type OnWarning = (message: string) => void;

/** Caches that somebody was warned of: a program opens one several times. */
const WARNED = new WeakMap<OnWarning, Set<string>>();

/** Paths of the caches that somebody was warned of. */
export function warnedCaches(onWarning: OnWarning): Set<string> {
  const known = WARNED.get(onWarning);
  if (known !== undefined) return known;
  const none = new Set<string>();
  WARNED.set(onWarning, none);
  return none;
}
