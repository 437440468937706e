import { warnOnConsole } from "../../../base/message_text.ts";
import type { MessageListener } from "../../../base/named_option.ts";

/** Warnings given to each callback, because a program opens a cache or a server several times. */
const WARNED = new WeakMap<MessageListener, Set<string>>();

/** Returns the caches (paths) and servers (names) that a callback was warned about. Defaults to the console's. */
export function warnedCaches(
  onWarning: MessageListener = warnOnConsole,
): Set<string> {
  const known = WARNED.get(onWarning);
  if (known !== undefined) return known;
  const none = new Set<string>();
  WARNED.set(onWarning, none);
  return none;
}
