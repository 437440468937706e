import { RecordfsError } from "../../base/errors.ts";

/** A scheme of at least two letters: one may be a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/** Between URLs of several files, as WebDataset joins them. */
const BETWEEN = /::(?=[a-z][a-z0-9+.-]+:\/\/)/i;

const GOOGLE =
  "s3://BUCKET/KEY with --endpoint https://storage.googleapis.com and HMAC keys, or the object's https:// URL";
const AZURE = "the blob's https:// URL with its SAS token";
const WEB = "http:// or https://";
const ENDPOINT = "s3://BUCKET/KEY with --endpoint";
const S3 = "s3://BUCKET/KEY";

/** What to write in place of the schemes of other stores. */
const INSTEAD: Readonly<Record<string, string>> = {
  gs: GOOGLE,
  gcs: GOOGLE,
  az: AZURE,
  abfs: AZURE,
  abfss: AZURE,
  wasbs: AZURE,
  hf: "https://huggingface.co/datasets/OWNER/NAME/resolve/main/FILE",
  ftp: WEB,
  webdav: WEB,
  oss: ENDPOINT,
  cos: ENDPOINT,
  s3a: S3,
  s3n: S3,
  file: "its path, without file://",
};

/** Where a container lies that is not on this machine. */
export type RemoteLocation = HttpLocation | S3Location;

/** A file or directory of a web server. */
export interface HttpLocation {
  readonly kind: "http";
  /** With a query, but without name and password. */
  readonly url: URL;
  /** What `user:password@` says. */
  readonly userinfo: string | undefined;
}

/** An object of a bucket, or what comes before a slash in the names of several. */
export interface S3Location {
  readonly kind: "s3";
  readonly bucket: string;
  /** As it is, not encoded; empty for the whole bucket. */
  readonly key: string;
  /** Of objects that are kept in versions. */
  readonly versionId: string | undefined;
}

/** Whether a location is a URL, of this machine or another, and not a path. */
export function isUrl(location: string): boolean {
  return SCHEME.test(location);
}

/** The URLs of a text: several where `::` joins them, as in `https://HOST/a.tar::https://HOST/b.tar`. */
export function separateUrls(text: string): string[] {
  return text.split(BETWEEN);
}

/**
 * Takes the URL of a container apart, or several of one server that `::` joins.
 *
 * @throws {RecordfsError} If its scheme is none that can be read (`unknown-scheme`), or it is no URL, or there are URLs
 * of several servers (`bad-location`).
 */
export function parseRemote(
  location: string | URL,
): readonly [RemoteLocation, ...RemoteLocation[]] {
  const all = separateUrls(String(location)).map(parseOne) as [
    RemoteLocation,
    ...RemoteLocation[],
  ];
  const server = serverOf(all[0]);
  if (all.every((one) => serverOf(one) === server)) return all;
  const path = withoutSecrets(location);
  throw new RecordfsError(
    "bad-location",
    `Cannot open ${path}: its URLs are of several servers, or differ in passwords or queries. ` +
      "Open them as several containers (`open([…])`, or --add)",
    { path },
  );
}

/** What has to be the same of URLs that are opened together. */
function serverOf(location: RemoteLocation): string {
  return location.kind === "s3"
    ? `s3://${location.bucket}?${location.versionId ?? ""}`
    : `${location.userinfo ?? ""}@${location.url.origin}${location.url.search}`;
}

function parseOne(text: string): RemoteLocation {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase() ?? "";
  if (scheme === "s3") return parseS3(text);
  if (scheme === "http" || scheme === "https") return parseHttp(text);
  const instead = INSTEAD[scheme] ?? "http://, https:// or s3://";
  const path = withoutSecrets(text);
  throw new RecordfsError(
    "unknown-scheme",
    `Cannot open ${path}: containers are read from paths, http://, https:// and s3://; ` +
      `give ${instead} (./${path} is a path)`,
    { path },
  );
}

/** The path that a URL has in its storage. */
export function rootOf(location: RemoteLocation): string {
  const text = location.kind === "s3"
    ? `s3://${location.bucket}/${location.key}`
    : `${location.url.origin}${location.url.pathname}`;
  return text.replace(/\/+$/, "");
}

function parseS3(text: string): S3Location {
  // Not by URL: a key may have any character, and is not encoded.
  const rest = text.slice("s3://".length);
  const slash = rest.indexOf("/");
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const whole = slash < 0 ? "" : rest.slice(slash + 1);
  if (!/^[A-Za-z0-9._-]+$/.test(bucket)) {
    throw badLocation(text, "write s3://BUCKET/KEY");
  }
  const version = /\?versionId=([^&]+)$/.exec(whole);
  const key = version === null ? whole : whole.slice(0, version.index);
  return { kind: "s3", bucket, key, versionId: version?.[1] };
}

function parseHttp(text: string): HttpLocation {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw badLocation(text, "write https://HOST/PATH", cause);
  }
  const { username, password } = url;
  const userinfo = username === "" && password === ""
    ? undefined
    : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  url.username = "";
  url.password = "";
  url.hash = "";
  return { kind: "http", url, userinfo };
}

function badLocation(text: string, advice: string, cause?: unknown) {
  const path = withoutSecrets(text);
  return new RecordfsError(
    "bad-location",
    `Cannot open ${path}: it is no URL; ${advice}`,
    { path, cause },
  );
}

/** A URL as it may be shown: without what is before an @ in the host, and without its query, which may be signed. */
export function withoutSecrets(url: string | URL): string {
  return separateUrls(String(url)).map((one) =>
    one.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1")
      .replace(/[?#].*$/s, "")
  ).join("::");
}

/** A location as it may be printed: of a URL, what is signed or secret is left out. */
export function shownLocation(location: string): string {
  return isUrl(location) ? withoutSecrets(location) : location;
}
