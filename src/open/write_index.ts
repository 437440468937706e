import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { RecordfsError, WriteError } from "../base/errors.ts";
import { type NamedOption, optionText, REPLACE } from "../base/named_option.ts";
import { utf8Text } from "../base/utf8.ts";
import { loadFormat } from "../formats/registry.ts";
import { runAsync, type Steps } from "../io/concurrency/steps.ts";
import { indexPath } from "../io/index_cache/adjacent_index.ts";
import { IndexCollector } from "../io/index_cache/index_collector.ts";
import { INDEX_MAGIC } from "../io/index_cache/index_file.ts";
import { readPart } from "../io/read/read_part.ts";
import { isUrl } from "../io/remote/remote_location.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";
import { againIfChanged } from "../io/storage/changed_file.ts";
import { isMade } from "../io/storage/made_source.ts";
import { openFile } from "../io/storage/open_file.ts";
import { storedAt } from "../io/storage/stored_location.ts";
import { LOCAL_DISK, type Storage } from "../io/storage/storage.ts";
import { NewFile } from "../io/write/new_file.ts";
import type { ContainerOptions } from "../tree/format.ts";
import { findContainer, openOne } from "./find_format.ts";

const OUTPUT: NamedOption = { name: "output" };

/** Options of {@linkcode writeIndex}. */
export interface WriteIndexOptions extends ContainerOptions, WaitOptions {
  /**
   * Path of the index file, or an existing directory for the indexes of several files. Defaults to files next to the
   * container's.
   */
  readonly output?: string | undefined;
  /** Whether to write the indexes that NVIDIA DALI reads, as its own tools do. Defaults to `false`. */
  readonly dali?: boolean | undefined;
  /** Whether to replace an existing file that is no index file. Defaults to `false`. */
  readonly replace?: boolean | undefined;
}

/** An index file that was written. */
export interface WrittenIndex {
  readonly path: string;
  /** Path of the file that it is the index of. */
  readonly of: string;
  /** Size in bytes. */
  readonly bytes: number;
  /** Number of entries: members, records, or what else the format finds by an index. Absent from those for DALI. */
  readonly entries?: number;
}

/** An index file to write. */
interface Planned extends Pick<WrittenIndex, "entries" | "of"> {
  readonly path: string;
  encode(): Steps<Uint8Array[]>;
}

/**
 * Opens a container, and writes the indexes that this takes to files, from which others then open it: `x.tar` by
 * `x.tar.recordfs-index`. A file appears whole or not at all.
 *
 * @returns The files that were written.
 * @throws {RecordfsError} If the container is opened without an index (`no-index`), or its index would not be used (`unsupported`).
 * @throws {WriteError} If a file exists that is no index (`exists`), or cannot be written.
 */
export async function writeIndex(
  location: string | URL,
  options: WriteIndexOptions = {},
): Promise<WrittenIndex[]> {
  const { path, storage: given } = storedAt(location, options);
  // A storage of its own, because the collector takes all indexes that are made in it.
  const { open, list, stat } = LOCAL_DISK;
  const storage = given === LOCAL_DISK ? { open, list, stat } : given;
  const own = { ...options, storage };
  return await (options.dali ? writeDali(path, own) : writeOwn(path, own));
}

type Own = WriteIndexOptions & { readonly storage: Storage };

async function writeOwn(path: string, options: Own): Promise<WrittenIndex[]> {
  const collector = new IndexCollector(options.storage);
  const container = await runAsync(openOne(path, options), options.signal);
  try {
    const { files } = collector;
    if (files.length === 0) {
      const { format } = container.info;
      throw new RecordfsError(
        "no-index",
        `Cannot index ${path}: ${format} needs no index file. Open it as it is`,
        { path },
      );
    }
    const [bad] = files.filter(({ missing, count }) => missing.length >= count);
    if (bad !== undefined) {
      throw new RecordfsError(
        "unsupported",
        `Cannot index ${bad.path}: its index cannot be compared with it when others read by it (${
          bad.missing.join(", ")
        }), or it is damaged. Open it as it is`,
        { path: bad.path },
      );
    }
    const planned = files.map(({ path: of, entries, encode }): Planned => ({
      path: indexPath(of),
      of,
      entries,
      encode,
    }));
    // Shards are opened at once, in no order.
    planned.sort((a, b) => a.of < b.of ? -1 : 1);
    return await writeAll(planned, options, INDEX_MAGIC);
  } finally {
    container.tree.close();
  }
}

async function writeDali(path: string, options: Own): Promise<WrittenIndex[]> {
  const { signal } = options;
  const found = await runAsync(findContainer(path, options), signal);
  const { storage } = found.options;
  const format = await loadFormat(found.format);
  const dali = await format.daliIndex?.();
  const container = await runAsync(openOne(path, options), signal);
  const { parts } = container.info;
  container.tree.close();
  const refuse = (of: string, why: string) =>
    new RecordfsError("unsupported", `Cannot index ${of} for DALI: ${why}`, {
      path: of,
    });
  if (dali === undefined) {
    throw refuse(path, "it reads no indexes of this format");
  }
  const planned = parts.map(({ path: of }): Planned => {
    const path = dali.pathOf(of);
    if (path === undefined) {
      throw refuse(of, "its name has not the suffix of the format");
    }
    return {
      path,
      of,
      *encode() {
        const source = yield* openFile(storage, of);
        try {
          if (!isMade(source)) return yield* dali.encode(source);
          throw refuse(of, "it is compressed, or in another container");
        } finally {
          source.close();
        }
      },
    };
  });
  return await writeAll(planned, options, undefined);
}

/** @param magic First bytes of files that may be replaced. */
async function writeAll(
  planned: readonly Planned[],
  { output, replace, signal }: Own,
  magic: string | undefined,
): Promise<WrittenIndex[]> {
  const isDirectory = output !== undefined && await isDirectoryAt(output);
  if (output !== undefined && !isDirectory && planned.length > 1) {
    throw new WriteError(
      "not-a-directory",
      `Cannot write ${planned.length} indexes to ${output}: it is no directory. Give an existing directory`,
      { path: output },
    );
  }
  const written: WrittenIndex[] = [];
  for (const { path: beside, of, entries, encode } of planned) {
    if (output === undefined && isUrl(beside)) {
      throw new WriteError(
        "read-only",
        `Cannot write ${beside}: it is on a server. Write it elsewhere with ${
          optionText(OUTPUT)
        }, and put it there`,
        { path: beside, namedOptions: [OUTPUT] },
      );
    }
    const path = isDirectory
      ? join(output, basename(beside.replace(/\?.*/s, "")))
      : output ?? beside;
    if (!replace) await requireReplaceable(path, magic);
    const parts = await runAsync(encode(), signal);
    const bytes = await runAsync(writeFile(path, parts), signal);
    written.push({
      path,
      of,
      bytes,
      ...entries === undefined ? {} : { entries },
    });
  }
  return written;
}

function* writeFile(
  path: string,
  parts: readonly Uint8Array[],
): Steps<number> {
  const output = yield* NewFile.create(path);
  try {
    let offset = 0;
    for (const part of parts) {
      yield* output.file.writeAt(part, offset);
      offset += part.length;
    }
    yield* output.file.sync();
    yield* output.publish();
    return offset;
  } finally {
    output.discard();
  }
}

async function isDirectoryAt(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false; // writing reports the error
  }
}

/** Throws WriteError (`exists`) if there is a file that does not begin with the magic. */
async function requireReplaceable(
  path: string,
  magic: string | undefined,
): Promise<void> {
  // Others may replace it at the same time.
  const there = await runAsync(
    againIfChanged(() => firstBytes(path, magic?.length ?? 0)),
  );
  if (there === undefined || magic !== undefined && there === magic) return;
  throw new WriteError(
    "exists",
    `Cannot write ${path}: it exists. Replace it with ${optionText(REPLACE)}`,
    { path, namedOptions: [REPLACE] },
  );
}

function* firstBytes(path: string, length: number): Steps<string | undefined> {
  if ((yield* LOCAL_DISK.stat(path)) === undefined) return undefined;
  const source = yield* LOCAL_DISK.open(path);
  try {
    const bytes = yield* readPart(source, 0, Math.min(length, source.size));
    return utf8Text(bytes);
  } finally {
    source.close();
  }
}
