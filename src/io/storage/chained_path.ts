import { RecordfsError } from "../../base/errors.ts";

/** What separates the path of a container from that of a file in it. */
export const INSIDE = "!/";

/** File systems of fsspec that read containers, those that cache files, and those of this machine. */
const CONTAINERS = ["libarchive", "tar", "zip"];
const CACHES = ["blockcache", "cached", "filecache", "simplecache"];
const LOCAL = /^(?:file|local):\/\//;

const LINK = new RegExp(
  `^(${[...CONTAINERS, ...CACHES].join("|")})(?:://(.*))?$`,
  "s",
);

/**
 * Returns the path of a chain of fsspec, from the outermost container on: `/d/o.zip!/i.tar` for
 * `tar://::zip://i.tar::file:///d/o.zip`. What caches files is skipped. Any other text is returned unchanged.
 *
 * @throws {RecordfsError} With code `unknown-scheme` if the chain has a link of another kind.
 */
export function chainedPath(location: string): string {
  const links = location.split("::");
  if (links.length < 2 || !LINK.test(links[0]!)) return location;
  let path = links.pop()!.replace(LOCAL, "");
  for (const [i, link] of links.entries().toArray().reverse()) {
    const found = LINK.exec(link);
    if (found === null) throw unknownLink(location, link);
    const [, scheme, inside = ""] = found;
    if (CACHES.includes(scheme!)) continue;
    const name = inside.replace(/^\/+/, "");
    if (name !== "") path += INSIDE + name;
    else if (i > 0) throw unknownLink(location, link);
  }
  return path;
}

function unknownLink(location: string, link: string): RecordfsError {
  return new RecordfsError(
    "unknown-scheme",
    `Cannot open ${location}: '${link}' of the chain does not name a file of a container. ` +
      `Write it as OUTER${INSIDE}PATH`,
    { path: location },
  );
}
