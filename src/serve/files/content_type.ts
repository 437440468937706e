/** Types by the endings of names, in lower case. */
const BY_SUFFIX: Readonly<Record<string, string>> = {
  __proto__: null as never, // `constructor` is no ending
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
  // What a page could run, were it a script's or a style's type.
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

/** Bytes of a content that tell its type. */
export const SNIFFED = 512;

/** Longer ones are no endings. */
const LONGEST_SUFFIX = 8;

/** The type that a name's ending says; `undefined` where it says none. */
export function typeOfName(name: string): string | undefined {
  const dot = name.lastIndexOf(".");
  if (dot < 0 || name.length - dot - 1 > LONGEST_SUFFIX) return undefined;
  return BY_SUFFIX[name.slice(dot + 1).toLowerCase()];
}

/** Bytes that a type's files begin with; `-1` is any byte. */
const MAGIC: readonly (readonly [type: string, bytes: readonly number[]])[] = [
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/png", [0x89, ...ascii("PNG\r\n\x1a\n")]],
  ["image/gif", ascii("GIF8")],
  ["image/webp", [...ascii("RIFF"), -1, -1, -1, -1, ...ascii("WEBP")]],
  ["image/avif", [-1, -1, -1, -1, ...ascii("ftypavif")]],
  ["image/bmp", [...ascii("BM"), -1, -1, -1, -1, 0, 0, 0, 0]],
  ["image/tiff", [...ascii("II*"), 0]],
  ["image/tiff", [...ascii("MM"), 0, 0x2a]],
  ["audio/wav", [...ascii("RIFF"), -1, -1, -1, -1, ...ascii("WAVE")]],
  ["video/x-msvideo", [...ascii("RIFF"), -1, -1, -1, -1, ...ascii("AVI ")]],
  ["video/mp4", [-1, -1, -1, -1, ...ascii("ftyp")]],
  ["video/webm", [0x1a, 0x45, 0xdf, 0xa3]],
  ["audio/ogg", ascii("OggS")],
  ["audio/flac", ascii("fLaC")],
  ["audio/mpeg", ascii("ID3")],
  ["application/pdf", ascii("%PDF-")],
  ["application/zip", [...ascii("PK"), 3, 4]],
  ["application/gzip", [0x1f, 0x8b]],
];

function ascii(text: string): number[] {
  return [...text].map((char) => char.charCodeAt(0));
}

/** The type that the first bytes of a content say: text where they are such, else `application/octet-stream`. */
export function typeOfBytes(head: Uint8Array): string {
  for (const [type, bytes] of MAGIC) {
    if (head.length < bytes.length) continue;
    if (bytes.every((byte, i) => byte < 0 || head[i] === byte)) return type;
  }
  return isText(head) ? "text/plain" : "application/octet-stream";
}

/** Whether bytes are UTF-8 without control characters, but for one that is cut at the end. */
export function isText(head: Uint8Array): boolean {
  if (head.some((byte) => byte < 0x20 && !(byte >= 9 && byte <= 13))) {
    return false;
  }
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(head), // decoders refuse shared memory
      { stream: true },
    );
    return !head.includes(0x7f);
  } catch {
    return false;
  }
}

/** Types that browsers show, and in which nothing runs, whatever the content is. */
const HARMLESS =
  /^(image\/(?!svg)|audio\/|video\/|text\/(plain|csv|tab-separated-values)$|application\/(json|x-ndjson|octet-stream)$)/;

/** Whether a document of this type could run, load or show something that is not its own. */
export function isActive(type: string): boolean {
  return !HARMLESS.test(type);
}
