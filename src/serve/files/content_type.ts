import { sniffedSuffix } from "../../codecs/values/sniffed_suffix.ts";

/** MIME types by filename extension, in lower case. */
const BY_SUFFIX: Readonly<Record<string, string>> = {
  __proto__: null as never, // `constructor` is not an extension
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  png: "image/png",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
  ico: "image/x-icon",
  tif: "image/tiff",
  tiff: "image/tiff",
  svg: "image/svg+xml",
  mp4: "video/mp4",
  m4v: "video/mp4",
  webm: "video/webm",
  mkv: "video/x-matroska",
  mov: "video/quicktime",
  avi: "video/x-msvideo",
  mp3: "audio/mpeg",
  m4a: "audio/mp4",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  txt: "text/plain",
  md: "text/plain",
  log: "text/plain",
  // Plain text, because as scripts or styles a page could execute them.
  js: "text/plain",
  mjs: "text/plain",
  ts: "text/plain",
  css: "text/plain",
  py: "text/plain",
  yaml: "text/plain",
  yml: "text/plain",
  toml: "text/plain",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  jsonl: "application/x-ndjson",
  ndjson: "application/x-ndjson",
  html: "text/html",
  htm: "text/html",
  xhtml: "application/xhtml+xml",
  xml: "application/xml",
  pdf: "application/pdf",
  zip: "application/zip",
  gz: "application/gzip",
  tar: "application/x-tar",
  npy: "application/octet-stream",
  npz: "application/octet-stream",
  pkl: "application/octet-stream",
  pickle: "application/octet-stream",
  msgpack: "application/vnd.msgpack",
};

/** Number of a content's first bytes that determine its type. */
export const SNIFFED = 512;

const LONGEST_SUFFIX = 8;

/** Returns the MIME type for a name's extension; `undefined` if unknown. */
export function typeOfName(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  if (dot < 0 || name.length - dot - 1 > LONGEST_SUFFIX) return undefined;
  return BY_SUFFIX[name.slice(dot + 1).toLowerCase()];
}

/** Detects the MIME type from a content's first bytes: text if they are, else `application/octet-stream`. */
export function typeOfBytes(head: Uint8Array): string {
  const suffix = sniffedSuffix(head);
  const type = suffix === undefined
    ? isText(head) ? "text/plain" : undefined
    : typeOfName(suffix);
  return type ?? "application/octet-stream";
}

/** Whether bytes are UTF-8 without control characters. The last character may be incomplete. */
export function isText(head: Uint8Array): boolean {
  if (head.some((byte) => byte < 0x20 && !(byte >= 9 && byte <= 13))) {
    return false;
  }
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(head), // decoders reject shared memory
      { stream: true },
    );
    return !head.includes(0x7f);
  } catch {
    return false;
  }
}

/** Types that browsers display without executing anything, whatever the content. */
const HARMLESS =
  /^(image\/(?!svg)|audio\/|video\/|text\/(plain|csv|tab-separated-values)$|application\/(json|x-ndjson|octet-stream)$)/;

/** Whether a document of this type could execute scripts, load other resources or imitate a page. */
export function isActive(type: string): boolean {
  return !HARMLESS.test(type);
}
