import { warnOnConsole } from "../../../base/message_text.ts";

type OnWarning = (message: string) => void;

/** Warnings given to each callback, because a program opens a cache or a server several times. */
const WARNED = new WeakMap<OnWarning, Set<string>>();

/** Returns the caches (paths) and servers (names) that a callback was warned about. Defaults to the console's. */
export function warnedCaches(
  onWarning: OnWarning = warnOnConsole,
): Set<string> {
  const known = WARNED.get(onWarning);
  if (known !== undefined) return known;
  const none = new Set<string>();
  WARNED.set(onWarning, none);
  return none;
}
