import { warnOnConsole } from "../../../message_text.ts";

type OnWarning = (message: string) => void;

/** Caches that somebody was warned of: a program opens one several times. */
const WARNED = new WeakMap<OnWarning, Set<string>>();

/** Paths of the caches that somebody was warned of, by default those who read the console. */
export function warnedCaches(
  onWarning: OnWarning = warnOnConsole,
): Set<string> {
  const known = WARNED.get(onWarning);
  if (known !== undefined) return known;
  const none = new Set<string>();
  WARNED.set(onWarning, none);
  return none;
}
