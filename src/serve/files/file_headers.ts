/** Types that are text, and in UTF-8 unless somebody knows better. */
const TEXT = /^text\//;

/** The date that was written last: of most containers it is always the same. */
let written = { seconds: -1, text: "" };

/** Headers of a file's state, which an answer without the file has as well. */
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

/** Headers of a file's content. A record of one form is what `Response` takes fastest. */
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
