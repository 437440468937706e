import { PACKAGES } from "../../../base/packages.ts";
import type { Client, RequestLimits } from "../client.ts";
import { isFileName, type ListedFile } from "../listed_file.ts";
import { readText } from "../read_text.ts";
import { RemoteError } from "../remote_error.ts";
import { type Bucket, BucketTarget } from "./bucket.ts";

/** A page of a `ListObjectsV2` response. */
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
    /** The requested encoding, unless the server does not support it. */
    readonly EncodingType?: string;
  };
}

const LISTS = new Set(["Contents", "CommonPrefixes"]);

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

export interface BucketList {
  readonly entries: readonly ListedFile[];
  /** Number of keys and prefixes that cannot be file names, and one example as it may be shown. */
  readonly skipped: { readonly count: number; readonly example: string };
}

class ListBuilder {
  readonly #prefix: string;
  readonly #entries = new Map<string, ListedFile>();
  #skipped = { count: 0, example: "" };

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds an object. `key` is `undefined` if it could not be decoded. */
  addFile(key: string | undefined, size: string, modified: string): void {
    const name = this.#nameOf(key);
    if (name === undefined) return;
    this.#set({
      name,
      isDirectory: false,
      size: Number(size),
      mtime: Date.parse(modified) || 0,
    });
  }

  /** Adds a common prefix, which ends with a slash. */
  addDirectory(key: string | undefined): void {
    const name = this.#nameOf(key?.replace(/\/$/, ""), "/");
    if (name !== undefined) this.#set({ name, isDirectory: true });
  }

  get list(): BucketList {
    return { entries: [...this.#entries.values()], skipped: this.#skipped };
  }

  #nameOf(key: string | undefined, behind = ""): string | undefined {
    // Some tools create an empty object for the directory itself.
    if (`${key}${behind}` === this.#prefix) return undefined;
    const name = key?.startsWith(this.#prefix)
      ? key.slice(this.#prefix.length)
      : undefined;
    if (name !== undefined && isFileName(name)) return name;
    this.#skip(`${key ?? this.#prefix}${behind}`);
    return undefined;
  }

  /** If an object and a directory have the same name, the directory wins. */
  #set(entry: ListedFile): void {
    const before = this.#entries.get(entry.name);
    if (before !== undefined && before.isDirectory !== entry.isDirectory) {
      this.#skip(`${this.#prefix}${entry.name}`);
      if (before.isDirectory) return;
    }
    this.#entries.set(entry.name, entry);
  }

  #skip(key: string): void {
    const { count, example } = this.#skipped;
    this.#skipped = { count: count + 1, example: count === 0 ? key : example };
  }
}

/**
 * Lists a directory of a bucket: the objects whose names begin with its name and a slash. `directory` has no trailing
 * slash, and is empty for the whole bucket.
 */
export async function listBucket(
  client: Client,
  bucket: Bucket,
  directory: string,
  patience: RequestLimits,
): Promise<BucketList> {
  const parse = await pageParser();
  const prefix = directory === "" ? "" : `${directory}/`;
  const list = new ListBuilder(prefix);
  let token: string | undefined;
  do {
    const target = new BucketTarget(bucket, "", {
      ...token === undefined ? {} : { "continuation-token": token },
      delimiter: "/",
      "encoding-type": "url",
      "list-type": "2",
      "max-keys": "1000",
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
        `Cannot list ${shown}: the server's response is not a list of objects. Check the endpoint`,
        { path: shown },
      );
    }
    const isEncoded = page.EncodingType?.trim() === "url";
    const keyOf = (text: string) => isEncoded ? decoded(text) : text;
    for (const { Key, Size, LastModified } of page.Contents ?? []) {
      list.addFile(keyOf(Key), Size, LastModified ?? "");
    }
    for (const { Prefix } of page.CommonPrefixes ?? []) {
      list.addDirectory(keyOf(Prefix));
    }
    token = page.IsTruncated === "true"
      ? page.NextContinuationToken
      : undefined;
  } while (token !== undefined);
  return list.list;
}

/** Decodes a form-encoded key; `undefined` if it is not UTF-8. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return undefined;
  }
}
