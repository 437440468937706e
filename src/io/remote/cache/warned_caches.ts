import { warnOnConsole } from "../../../base/message_text.ts";

type OnWarning = (message: string) => void;

/** What somebody was warned of: a program opens a cache, or a server, several times. */
const WARNED = new WeakMap<OnWarning, Set<string>>();

/** Paths of caches, and names of servers, that somebody was warned of; by default those who read the console. */
export function warnedCaches(
  onWarning: OnWarning = warnOnConsole,
): Set<string> {
  const known = WARNED.get(onWarning);
  if (known !== undefined) return known;
  const none = new Set<string>();
  WARNED.set(onWarning, none);
  return none;
}
