import { RecordfsError } from "../../../base/errors.ts";
import { abortable } from "../../concurrency/abortable.ts";
import { PACKAGES } from "../../../base/packages.ts";
import { variable } from "../../../base/environment.ts";
import { type NamedOption, optionText } from "../../../base/named_option.ts";
import { withoutSecrets } from "../remote_location.ts";
import type { S3Options } from "../remote_options.ts";
import type { PreparedRequest, Target } from "../target.ts";
import { Credentials, type Keys } from "./credentials.ts";

const ANONYMOUS: NamedOption = { name: "s3.anonymous" };
const ENDPOINT: NamedOption = { name: "s3.endpoint" };
const REQUESTER_PAYS: NamedOption = { name: "s3.requesterPays" };

const REGION = "us-east-1";
/** Not unreserved (RFC 3986, 2.3), but left by `encodeURIComponent`; signatures need them encoded. */
const RESERVED = /[!'()*]/g;

/** A bucket's location and request signing. */
export class Bucket {
  readonly name: string;
  readonly #options: S3Options;
  readonly #credentials: Credentials;
  readonly #endpoint: URL | undefined;
  #region: string;
  #host: string | undefined;

  /** @throws {RecordfsError} If the endpoint is not a URL (`bad-location`). */
  constructor(name: string, options: S3Options) {
    this.name = name;
    this.#options = options;
    this.#credentials = new Credentials(options);
    const endpoint = options.endpoint ?? variable("AWS_ENDPOINT_URL_S3") ??
      variable("AWS_ENDPOINT_URL");
    this.#endpoint = endpoint === undefined ? undefined : parsed(endpoint);
    this.#region = options.region ?? variable("AWS_REGION") ??
      variable("AWS_DEFAULT_REGION") ?? REGION;
  }

  /** Distinguishes it from buckets of other servers. */
  get origin(): string {
    return `${this.#endpoint?.href ?? "s3:"} ${this.name}`;
  }

  /** Returns the URL of an object, or of the bucket if the key is empty. */
  url(key: string): URL {
    const names = key.split("/");
    if (names.includes(".") || names.includes("..")) {
      const path = `s3://${this.name}/${key}`;
      throw new RecordfsError(
        "bad-location",
        `Cannot read ${path}: a URL cannot have . or .. as a name`,
        { path },
      );
    }
    const path = names.map(encoded).join("/");
    const service = this.#endpoint ??
      new URL(`https://s3.${this.#region}.amazonaws.com`);
    const base = service.pathname.replace(/\/+$/, "");
    const isVirtual = this.#isVirtual;
    const host = this.#host ??
      (isVirtual ? `${this.name}.${service.host}` : service.host);
    const place = isVirtual ? path : `${this.name}/${path}`;
    return new URL(`${service.protocol}//${host}${base}/${place}`);
  }

  get #isVirtual(): boolean {
    const { addressing } = this.#options;
    if (addressing !== undefined) return addressing === "virtual";
    // Amazon's certificates cover one label before the service's name.
    return this.#endpoint === undefined && /^[a-z0-9-]+$/.test(this.name);
  }

  async sign(
    url: URL,
    headers: Headers,
    shown: string,
  ): Promise<PreparedRequest & { readonly keys: Keys | undefined }> {
    if (this.#options.requesterPays) {
      headers.set("x-amz-request-payer", "requester");
    }
    const keys = await this.#credentials.keys(shown);
    if (keys === undefined) return { url, headers, keys };
    const { accessKeyId, secretAccessKey, sessionToken } = keys;
    const { AwsV4Signer }: typeof import("aws4fetch") = await import(
      PACKAGES.aws4fetch
    );
    const signer = new AwsV4Signer({
      url: url.href,
      method: "GET",
      headers,
      accessKeyId,
      secretAccessKey,
      ...sessionToken === undefined ? {} : { sessionToken },
      service: "s3",
      region: this.#region,
    });
    const signed = await signer.sign();
    return { url: signed.url, headers: signed.headers, keys };
  }

  /** {@linkcode Target.react} for requests signed with the given keys. */
  async react(
    response: Response,
    asked: URL,
    keys: Keys | undefined,
    shown: string,
  ): Promise<boolean> {
    const { status, headers } = response;
    const region = headers.get("x-amz-bucket-region");
    if (region !== null && region !== this.#region) {
      this.#region = region;
      this.#host = undefined;
      return true;
    }
    const to = headers.get("location");
    if (status < 400 && to !== null && this.#endpoint === undefined) {
      // A new bucket is found under its region's host name only after a while.
      const url = URL.parse(to, asked);
      const isTheirs = url?.protocol === "https:" &&
        url.hostname.endsWith(".amazonaws.com");
      if (!isTheirs || url.host === asked.host) return false;
      this.#host = url.host;
      return true;
    }
    const isRefused = status === 400 || status === 401 || status === 403;
    return isRefused && await this.#credentials.renew(shown, keys);
  }
}

/** An object of a bucket, or a page of its listing. */
export class BucketTarget implements Target {
  readonly name: string;
  readonly identity: string;
  readonly advice = `Check that the keys may read it, and that the region and ${
    optionText(ENDPOINT)
  } are right; ${optionText(ANONYMOUS)} reads public objects, ${
    optionText(REQUESTER_PAYS)
  } those of requester-pays buckets`;
  readonly namedOptions = [ENDPOINT, ANONYMOUS, REQUESTER_PAYS];
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #query: Readonly<Record<string, string>>;
  /** Keys that requests in flight were signed with, by their URLs. */
  readonly #keys = new WeakMap<URL, Keys>();

  constructor(
    bucket: Bucket,
    key: string,
    query: Readonly<Record<string, string>> = {},
  ) {
    this.#bucket = bucket;
    this.#key = key;
    this.#query = query;
    this.name = `s3://${bucket.name}/${key}`;
    this.identity = `${bucket.origin}/${key}?${query["versionId"] ?? ""}`;
  }

  get store(): string {
    return this.#bucket.origin;
  }

  async prepare(
    headers: Headers,
    signal: AbortSignal,
  ): Promise<PreparedRequest> {
    const url = this.#bucket.url(this.#key);
    const query = Object.entries(this.#query).map(([name, value]) =>
      `${encoded(name)}=${encoded(value)}`
    );
    url.search = query.join("&");
    const { keys, ...request } = await abortable(
      this.#bucket.sign(url, headers, this.name),
      signal,
    );
    if (keys !== undefined) this.#keys.set(request.url, keys);
    return request;
  }

  react(response: Response, asked: URL): Promise<boolean> {
    return this.#bucket.react(
      response,
      asked,
      this.#keys.get(asked),
      this.name,
    );
  }
}

/** Encodes text as signatures require: everything but letters, digits and `-._~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    RESERVED,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function parsed(endpoint: string): URL {
  const url = URL.parse(endpoint);
  const isWeb = url?.protocol === "http:" || url?.protocol === "https:";
  if (isWeb && `${url!.username}${url!.password}${url!.search}` === "") {
    url!.hash = "";
    return url!;
  }
  const path = withoutSecrets(endpoint);
  throw new RecordfsError(
    "bad-location",
    `Cannot use the endpoint ${path}: it is not a URL such as https://HOST or http://HOST:PORT. ` +
      "Give keys by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    { path },
  );
}
