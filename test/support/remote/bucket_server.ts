/**
 * A bucket in this process: objects, paged listings, and signatures that are verified as AWS describes them ("Signature
 * Version 4": canonical request, string to sign, signing key).
 */
import { createHash, createHmac } from "node:crypto";
import type http from "node:http";
import { answerFile } from "./file_server.ts";
import { LocalServer } from "./local_server.ts";

/** Credentials that sign requests. */
export interface BucketKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

/** Maximum number of keys per page of a listing. */
const PAGE = 1000;

/** Server with one bucket, `bucket`, addressed by path or by a host name that begins with it. */
export class BucketServer extends LocalServer {
  readonly #objects: Readonly<Record<string, Uint8Array>>;
  /** Accepted credentials; `undefined` accepts every request. */
  keys: BucketKeys | undefined;
  /** Content of older versions, by `KEY?VERSION`. */
  versions: Readonly<Record<string, Uint8Array>> = {};
  /** Whether the requester must agree to pay. */
  isPaidByReaders = false;
  /** Path prefix of the server, before the bucket. */
  base = "";
  /** Region that signatures must name. */
  region = "us-east-1";
  /** Status of rejected requests. */
  refusedStatus = 403;
  /** Whether listings encode keys on request. Not all servers do. */
  encodes = true;
  /** Path and query of each request. */
  readonly asked: string[] = [];
  /** Headers of the last request. */
  headers: http.IncomingHttpHeaders = {};

  private constructor(objects: Readonly<Record<string, Uint8Array>>) {
    super();
    this.#objects = objects;
  }

  /** Starts a server. */
  static async start(
    objects: Readonly<Record<string, Uint8Array>>,
  ): Promise<BucketServer> {
    return await new BucketServer(objects).listen();
  }

  protected answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): void {
    this.asked.push(request.url!);
    this.headers = request.headers;
    response.setHeader("x-amz-bucket-region", this.region);
    const refusal = this.keys && this.#refusal(request, this.keys);
    if (refusal !== undefined) {
      return refuse(response, this.refusedStatus, refusal);
    }
    const payer = request.headers["x-amz-request-payer"];
    if (this.isPaidByReaders && payer !== "requester") {
      return refuse(response, 403, "AccessDenied");
    }
    const url = new URL(request.url!, this.url);
    if (!url.pathname.startsWith(`${this.base}/`)) {
      return refuse(response, 404, "NoSuchBucket");
    }
    const [, ...names] = url.pathname.slice(this.base.length).split("/");
    const isVirtual = request.headers.host!.startsWith("bucket.");
    const [bucket, ...rest] = isVirtual ? ["bucket", ...names] : names;
    if (bucket !== "bucket") return refuse(response, 404, "NoSuchBucket");
    const key = rest.map(decodeURIComponent).join("/");
    if (key === "") return this.#list(url.searchParams, response);
    const version = url.searchParams.get("versionId");
    const body = version === null
      ? this.#objects[key]
      : this.versions[`${key}?${version}`];
    if (body === undefined) return refuse(response, 404, "NoSuchKey");
    const { headers } = request;
    const asked = { range: headers.range, headers };
    answerFile(asked, body, new Date(0), response);
  }

  /** Responds like ListObjectsV2: keys in byte order, with keys grouped by the slash after the prefix. */
  #list(query: URLSearchParams, response: http.ServerResponse): void {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const most = Math.min(Number(query.get("max-keys") ?? PAGE), PAGE);
    const entries = new Set<string>();
    for (const key of Object.keys(this.#objects)) {
      if (!key.startsWith(prefix)) continue;
      const slash = key.indexOf("/", prefix.length);
      entries.add(slash < 0 ? key : key.slice(0, slash + 1));
    }
    const order = [...entries].sort((a, b) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b))
    );
    const left = order.slice(after === "" ? 0 : order.indexOf(after) + 1);
    const page = left.slice(0, most);
    const isTruncated = left.length > most;
    const shown = (key: string) => this.encodes ? encoded(key) : escaped(key);
    const items = page.map((entry) =>
      entry.endsWith("/")
        ? `<CommonPrefixes><Prefix>${shown(entry)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${shown(entry)}</Key><Size>${
          this.#objects[entry]!.length
        }</Size><ETag>&quot;${"0".repeat(32)}&quot;</ETag>` +
          "<LastModified>1970-01-01T00:00:00.000Z</LastModified></Contents>"
    );
    const token = isTruncated
      ? `<NextContinuationToken>${
        escaped(page.at(-1)!)
      }</NextContinuationToken>`
      : "";
    response.writeHead(200, { "content-type": "application/xml" }).end(
      `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="x">` +
        (this.encodes ? "<EncodingType>url</EncodingType>" : "") +
        `<IsTruncated>${isTruncated}</IsTruncated>` +
        `${items.join("")}${token}</ListBucketResult>`,
    );
  }

  /** Returns why a request is rejected. */
  #refusal(
    request: http.IncomingMessage,
    keys: BucketKeys,
  ): string | undefined {
    const { headers } = request;
    const parts =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
        .exec(headers.authorization ?? "");
    if (parts === null) return "AccessDenied";
    const [, id, day, region, names, signature] = parts;
    if (id !== keys.accessKeyId) return "InvalidAccessKeyId";
    if (headers["x-amz-security-token"] !== keys.sessionToken) {
      return "ExpiredToken";
    }
    if (region !== this.region) return "AuthorizationHeaderMalformed";
    const isSigned = Object.keys(headers).every((name) =>
      !name.startsWith("x-amz-") || names!.split(";").includes(name)
    );
    if (!isSigned) return "AccessDenied";
    const [path, query = ""] = request.url!.split("?");
    const canonical = [
      request.method,
      path,
      query.split("&").sort().join("&"),
      ...names!.split(";").map((name) => `${name}:${headers[name]}`),
      "",
      names,
      headers["x-amz-content-sha256"],
    ].join("\n");
    const date = headers["x-amz-date"] as string;
    const scope = `${day}/${region}/s3/aws4_request`;
    const text = ["AWS4-HMAC-SHA256", date, scope, sha256(canonical)];
    let key: string | Uint8Array = `AWS4${keys.secretAccessKey}`;
    for (const part of [day!, region, "s3", "aws4_request"]) {
      key = createHmac("sha256", key).update(part).digest();
    }
    const expected = createHmac("sha256", key).update(text.join("\n"));
    return expected.digest("hex") === signature
      ? undefined
      : "SignatureDoesNotMatch";
  }
}

function refuse(
  response: http.ServerResponse,
  status: number,
  code: string,
): void {
  response.writeHead(status, { "content-type": "application/xml" })
    .end(`<Error><Code>${code}</Code></Error>`);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Encodes a key in a listing: with `encoding-type=url`, as in a form. */
function encoded(key: string): string {
  return encodeURIComponent(key).replaceAll("%20", "+").replaceAll("%2F", "/");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
