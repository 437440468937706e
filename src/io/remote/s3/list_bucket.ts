import { PACKAGES } from "../../../packages.ts";
import type { Client, Patience } from "../client.ts";
import type { ListedFile } from "../listed_file.ts";
import { readText } from "../read_text.ts";
import { RemoteError } from "../remote_error.ts";
import { type Bucket, BucketTarget } from "./bucket.ts";

/** A page of a `ListObjectsV2` answer. */
interface Page {
  readonly ListBucketResult?: {
    readonly Contents?: readonly {
      readonly Key: string;
      readonly Size: string;
      readonly LastModified?: string;
    }[];
    readonly CommonPrefixes?: readonly { readonly Prefix: string }[];
    readonly NextContinuationToken?: string;
    readonly IsTruncated?: string;
    /** What was asked for, unless the server does not know it. */
    readonly EncodingType?: string;
  };
}

const LISTS = new Set(["Contents", "CommonPrefixes"]);

/** Reads a page. */
async function pageParser(): Promise<(text: string) => Page> {
  const { XMLParser }: typeof import("fast-xml-parser") = await import(
    PACKAGES.fastXmlParser
  );
  const parser = new XMLParser({
    parseTagValue: false, // a key may look like a number
    trimValues: false,
    processEntities: true,
    isArray: (name) => LISTS.has(name),
  });
  return (text) => parser.parse(text);
}

/**
 * Lists what lies in a directory of a bucket: the objects whose names begin with its own and a slash.
 *
 * @param directory Without a slash at its end; empty for the whole bucket.
 * @param most How many names are wanted at most.
 */
export async function listBucket(
  client: Client,
  bucket: Bucket,
  directory: string,
  patience: Patience,
  most = Infinity,
): Promise<ListedFile[]> {
  const parse = await pageParser();
  const prefix = directory === "" ? "" : `${directory}/`;
  const found: ListedFile[] = [];
  let token: string | undefined;
  do {
    const target = new BucketTarget(bucket, "", {
      ...token === undefined ? {} : { "continuation-token": token },
      delimiter: "/",
      "encoding-type": "url",
      "list-type": "2",
      "max-keys": String(Math.min(most, 1000)),
      prefix,
    });
    const shown = `s3://${bucket.name}/${prefix}`;
    const text = await client.ask(target, {
      headers: () => new Headers(),
      async take(response, watch) {
        if (response.status === 200) {
          return await readText(response, watch);
        }
        throw new RemoteError(
          "bad-answer",
          `Cannot list ${shown}: ${
            response.status === 404
              ? "there is no such bucket"
              : `HTTP ${response.status}`
          }`,
          { path: shown, status: response.status },
        );
      },
    }, patience);
    const page = parse(text).ListBucketResult;
    if (page === undefined) {
      throw new RemoteError(
        "bad-answer",
        `Cannot list ${shown}: the server's answer is no list of objects; look at the endpoint`,
        { path: shown },
      );
    }
    const isEncoded = page.EncodingType?.trim() === "url";
    const keyOf = (text: string) =>
      isEncoded ? decodeURIComponent(text.replaceAll("+", "%20")) : text;
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      const name = keyOf(Key).slice(prefix.length);
      // Some tools make an empty object that stands for the directory.
      if (name === "") continue;
      found.push({
        name,
        isDirectory: false,
        size: Number(Size),
        mtime: Date.parse(LastModified ?? "") || 0,
      });
    }
    for (const { Prefix } of page.CommonPrefixes ?? []) {
      const name = keyOf(Prefix).slice(prefix.length, -1);
      if (name !== "") found.push({ name, isDirectory: true });
    }
    token = page.IsTruncated === "true"
      ? page.NextContinuationToken
      : undefined;
  } while (token !== undefined && found.length < most);
  return found;
}
