const TEXT = /^text\//;

/** Cache of the last formatted date: most containers have only one. */
let written = { seconds: -1, text: "" };

/** Returns the headers of a file's state, which 304 responses have as well. */
export function stateHeaders(
  etag: string,
  modified: number,
): Record<string, string> {
  return {
    "etag": etag,
    "last-modified": dateOf(modified),
    "cache-control": "private, no-cache",
  };
}

/** Returns the headers of a file's content. `Response` is fastest with records of one shape. */
export function fileHeaders(
  type: string,
  etag: string,
  modified: number,
): Record<string, string> {
  return {
    "etag": etag,
    "last-modified": dateOf(modified),
    "cache-control": "private, no-cache",
    "content-type": TEXT.test(type) ? `${type}; charset=utf-8` : type,
    "accept-ranges": "bytes",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
  };
}

function dateOf(seconds: number): string {
  if (written.seconds !== seconds) {
    written = { seconds, text: new Date(seconds * 1000).toUTCString() };
  }
  return written.text;
}
