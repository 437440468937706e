import { messageOf } from "../../base/message_text.ts";
import { runAsync, type Steps } from "../../io/concurrency/steps.ts";
import { isSimpleGlob } from "../../tree/vfs/glob.ts";
import type { PathPattern } from "../../tree/vfs/path_filter.ts";
import { Walker } from "../../tree/vfs/walk.ts";
import type { Decoding } from "../decode/decoding.ts";
import { patternOf } from "../decode/matched_paths.ts";
import { encodeUrlPath } from "../paths.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { waitFor } from "../wait_for.ts";
import { entryOf } from "./describe_entry.ts";
import { everyFew, lines } from "./lines.ts";
import { directoryIn } from "./listing.ts";
import type { SearchLine } from "./messages.ts";
import type { Query } from "./query.ts";
import { Turns } from "./turns.ts";

const PAGE = 100;
/** Default and maximum number of entries found. */
const USUAL = 10_000;
const MOST = 100_000;
/** Maximum characters of a glob, and stars of a simple glob. */
const LONGEST = 1024;
const MOST_STARS = 16;
/**
 * Maximum stars and braces of other globs. Their regular expressions backtrack over all ways to match the parts of a
 * name: with four, and a name of 255 characters, that takes 0.1 s, so another thread does it.
 */
const MOST_WAYS = 4;
/** Interval of progress messages, in milliseconds. */
const TELL_EVERY = 200;

/** `api/search`: streams the entries that match a glob. */
export function* search(
  served: Served,
  decoding: Decoding,
  query: Query,
): Steps<Response> {
  const glob = query.text("glob") ?? "";
  requireFew(glob);
  const limit = query.number("limit", MOST) ?? USUAL;
  const directory = yield* directoryIn(served, query);
  const pattern = yield* waitFor(() => understood(glob));
  const isQuick = isSimpleGlob(glob);
  return lines<SearchLine>(served, async function* (signal) {
    let damaged = 0;
    const walker = new Walker(
      served.tree,
      directory.node,
      "",
      Infinity,
      () => damaged++,
    );
    const turns = new Turns();
    const isDue = everyFew(TELL_EVERY);
    let looked = 0;
    let found = 0;
    for (;;) {
      if (turns.areDue) await turns.give();
      const page = await runAsync(walker.nextPage(PAGE), signal);
      const matches = isQuick || page.length === 0
        ? undefined
        : await decoding.matches(glob, page, signal);
      for (const [i, walked] of page.entries()) {
        const { path, name, node } = walked;
        looked++;
        if (turns.areDue) await turns.give();
        const isFound = matches === undefined
          ? pattern.matches(walked)
          : matches[i] === 1;
        if (!isFound) continue;
        if (found++ === limit) {
          yield {
            isComplete: true,
            looked,
            found: limit,
            damaged,
            isCut: true,
          };
          return;
        }
        const above = directory.path + path.slice(0, path.length - name.length);
        const parent = { path: above, url: encodeUrlPath(above) };
        yield {
          entry: await runAsync(entryOf(served, parent, name, node), signal),
        };
      }
      if (page.length === 0) break;
      if (isDue()) yield { looked };
    }
    yield { isComplete: true, looked, found, damaged, isCut: false };
  });
}

/** Rejects globs that are slow to match. */
function requireFew(glob: string): void {
  const anywhere = glob.match(/\*\*\//g)?.length ?? 0;
  const ways = glob.replaceAll("**/", "").match(/\*+|\{/g)?.length ?? 0;
  if (
    glob !== "" && glob.length <= LONGEST &&
    ways <= (isSimpleGlob(glob) ? MOST_STARS : MOST_WAYS) &&
    anywhere <= MOST_WAYS
  ) return;
  throw new ServeError(
    "bad-request",
    `glob must be a pattern of up to ${LONGEST} characters, with up to ${MOST_STARS} stars, ` +
      `or up to ${MOST_WAYS} stars and braces where there are slashes, braces, brackets or question marks`,
  );
}

async function understood(glob: string): Promise<PathPattern> {
  try {
    return await patternOf(glob);
  } catch (cause) {
    const why = messageOf(cause);
    throw new ServeError("bad-request", why, { cause });
  }
}
