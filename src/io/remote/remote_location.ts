import { RecordfsError } from "../../base/errors.ts";
import { type NamedOption, optionText } from "../../base/named_option.ts";

const ENDPOINT: NamedOption = { name: "s3.endpoint" };
const GOOGLE_ENDPOINT: NamedOption = {
  ...ENDPOINT,
  value: "https://storage.googleapis.com",
};

/** A scheme of at least two letters; a single one may be a drive. */
const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/** Separator of several URLs, as in WebDataset. */
const BETWEEN = /::(?=[a-z][a-z0-9+.-]+:\/\/)/i;

const GOOGLE = `s3://BUCKET/KEY with ${
  optionText(GOOGLE_ENDPOINT)
} and HMAC keys, or the object's https:// URL`;
const AZURE = "the blob's https:// URL with its SAS token";
const WEB = "http:// or https://";
const OTHER_S3 = `s3://BUCKET/KEY with ${optionText(ENDPOINT)}`;
const S3 = "s3://BUCKET/KEY";

/** What to use instead of the schemes of other stores. */
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
  oss: OTHER_S3,
  cos: OTHER_S3,
  s3a: S3,
  s3n: S3,
  file: "its path, without file://",
};

/** Location of a container on another machine. */
export type RemoteLocation = HttpLocation | S3Location;

export interface HttpLocation {
  readonly kind: "http";
  /** With its query, but without user name and password. */
  readonly url: URL;
  readonly userinfo: string | undefined;
}

/** An object of a bucket, or a prefix of several. */
export interface S3Location {
  readonly kind: "s3";
  readonly bucket: string;
  /** Not URL-encoded; empty for the whole bucket. */
  readonly key: string;
  readonly versionId: string | undefined;
}

/** Whether a location is a URL, of this machine or another, and not a path. */
export function isUrl(location: string): boolean {
  return SCHEME.test(location);
}

/** Splits a text at `::` between URLs, as in `https://HOST/a.tar::https://HOST/b.tar`. */
export function separateUrls(text: string): string[] {
  return text.split(BETWEEN);
}

/**
 * Parses the URL of a container, or several URLs of one server joined by `::`. Throws if a scheme is not supported
 * (`unknown-scheme`), a URL is malformed, or URLs are of several servers (`bad-location`).
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

/** Returns what must be equal for URLs that are opened together. */
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
    `Cannot open ${path}: the scheme is unsupported; containers are read from paths, http://, https:// and s3://. ` +
      `Give ${instead} (./${path} is a path)`,
    { path, namedOptions: [GOOGLE_ENDPOINT, ENDPOINT] },
  );
}

/** Returns the path of a URL in its storage. */
export function rootOf(location: RemoteLocation): string {
  const text = location.kind === "s3"
    ? `s3://${location.bucket}/${location.key}`
    : `${location.url.origin}${location.url.pathname}`;
  return text.replace(/\/+$/, "");
}

function parseS3(text: string): S3Location {
  // Not parsed with `URL`: a key may have any character, and is not encoded.
  const rest = text.slice("s3://".length);
  const slash = rest.indexOf("/");
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const whole = slash < 0 ? "" : rest.slice(slash + 1);
  if (!/^[A-Za-z0-9._-]+$/.test(bucket)) {
    throw badLocation(text, "Write s3://BUCKET/KEY");
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
    throw badLocation(text, "Write https://HOST/PATH", cause);
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
    `Cannot open ${path}: it is not a valid URL. ${advice}`,
    { path, cause },
  );
}

/** Removes secrets from a URL: user name and password, and the query, which may be signed. */
export function withoutSecrets(url: string | URL): string {
  return separateUrls(String(url)).map((one) =>
    one.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1")
      .replace(/[?#].*$/s, "")
  ).join("::");
}

/** Returns a location as it may be printed, without secrets. */
export function shownLocation(location: string): string {
  return isUrl(location) ? withoutSecrets(location) : location;
}
