import { FormatError } from "../../../base/errors.ts";
import { utf8Text } from "../../../base/utf8.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readPart } from "../../../io/read/read_part.ts";
import { isUrl } from "../../../io/remote/remote_location.ts";
import { openFile } from "../../../io/storage/open_file.ts";
import { pathIn } from "../../../io/storage/stored_location.ts";
import type { Storage } from "../../../io/storage/storage.ts";
import { isWidsName } from "../layout.ts";

/** Largest index: of a million shards, with their checksums. */
const LARGEST = 256 << 20;
/** Most shards that an index may list, as a pattern. */
const MOST_SHARDS = 1_000_000;

/** A shard in an index of wids. */
export interface WidsShard {
  readonly path: string;
  /** Number of its samples. */
  readonly samples: number;
  /** Size in bytes, if the index says it. */
  readonly size: number | undefined;
}

/** Shards of a dataset, as `wids_specs.py` of webdataset reads them. */
interface Description {
  readonly "wids_version"?: unknown;
  readonly base?: unknown;
  readonly shardlist?: unknown;
  readonly datasets?: unknown;
}

/**
 * Reads the shards that an index of wids lists; `undefined` if the path is not named like one.
 *
 * Shards must lie in the directory of the index or below: an index, which may come from anywhere, opens no other files.
 *
 * @throws {FormatError} If it is no such index, or lists shards elsewhere.
 */
export function* widsShards(
  path: string,
  storage: Storage,
): Steps<WidsShard[] | undefined> {
  if (!isWidsName(path)) return undefined;
  if ((yield* storage.list(path)) !== undefined) return undefined;
  const source = yield* openFile(storage, path);
  try {
    if (source.size > LARGEST) {
      throw refusal(path, `it has ${source.size} bytes`, "too-large");
    }
    return shardsIn(path, utf8Text(yield* readPart(source, 0, source.size)));
  } finally {
    source.close();
  }
}

function refusal(
  path: string,
  why: string,
  code: FormatError["code"] = "bad-index",
): FormatError {
  const message = `Cannot open ${path} as an index of wids: ${why}`;
  return new FormatError(code, message, { path });
}

function shardsIn(path: string, text: string): WidsShard[] {
  let data: Description;
  try {
    data = JSON.parse(text) as Description;
  } catch (cause) {
    throw refusal(path, `it is no JSON: ${(cause as Error).message}`);
  }
  if (data?.["wids_version"] !== 1) {
    throw refusal(path, "its wids_version is not 1", "unsupported");
  }
  const { datasets = [] } = data;
  if (!Array.isArray(datasets)) throw refusal(path, "its datasets are no list");
  const lists = [data, ...datasets as Description[]].flatMap((one) => {
    const { shardlist, base } = one ?? {};
    if (shardlist === undefined && one === data) return [];
    if (Array.isArray(shardlist)) return [{ shardlist, base }];
    const why = "one of its datasets is described elsewhere. Open that";
    throw refusal(path, why, "unsupported");
  });
  const count = lists.reduce((sum, { shardlist }) => sum + shardlist.length, 0);
  if (count === 0) throw refusal(path, "it lists no shards");
  if (count > MOST_SHARDS) {
    throw refusal(path, `it lists ${count} shards`, "absurd-count");
  }
  return lists.flatMap(({ shardlist, base }) =>
    shardlist.map((shard) => shardOf(path, shard, base))
  );
}

function shardOf(path: string, value: unknown, base: unknown): WidsShard {
  const { url, nsamples: samples, filesize: size } = (value ?? {}) as Record<
    string,
    unknown
  >;
  const isSound = typeof url === "string" && Number.isSafeInteger(samples) &&
    samples as number >= 0 &&
    (size === undefined || Number.isSafeInteger(size));
  if (!isSound) {
    throw refusal(path, "one of its shards lacks a url and nsamples");
  }
  const directory = path.slice(0, path.lastIndexOf("/") + 1);
  let name = url;
  for (const start of [base, directory]) {
    if (typeof start !== "string" || start === "") continue;
    const prefix = start.endsWith("/") ? start : `${start}/`;
    if (name.startsWith(prefix)) name = name.slice(prefix.length);
  }
  const isInside = name !== "" && !name.startsWith("/") && !isUrl(name) &&
    name.split("/").every((part) => !["", ".."].includes(part)) &&
    !/[\0\\]/.test(name);
  if (!isInside) {
    const why =
      `its shard ${url} lies elsewhere. Put the index next to its shards`;
    throw refusal(path, why, "unsupported");
  }
  return {
    path: pathIn(directory === "" ? "." : directory, name),
    samples: samples as number,
    size: size as number | undefined,
  };
}

/** Returns why a shard is not the one that an index lists; `undefined` if it is. */
export function widsFault(
  { path, samples, size }: WidsShard,
  actual: { readonly samples: number | undefined; readonly size: number },
): FormatError | undefined {
  const found = size !== undefined && size !== actual.size
    ? ["bytes", size, actual.size] as const
    : actual.samples !== undefined && samples !== actual.samples
    ? ["samples", samples, actual.samples] as const
    : undefined;
  if (found === undefined) return undefined;
  const [unit, expected, is] = found;
  return new FormatError(
    "bad-index",
    `Cannot use the index of wids for ${path}: it says ${expected} ${unit}, and the shard has ${is}. ` +
      "Make the index again",
    { path, expected, actual: is },
  );
}
