import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { runAsync } from "../../io/concurrency/steps.ts";
import { RecordfsError } from "../../base/errors.ts";
import {
  type CachedFile,
  listKeptTables,
  removeKeptTables,
} from "../../io/index_cache/cached_tables.ts";
import { CacheDirectory } from "../../io/remote/cache/cache_directory.ts";
import type { CachedEntry } from "../../io/remote/cache/cached_object.ts";
import { DiskStore } from "../../io/remote/cache/disk_store.ts";
import type { ObjectCounts } from "../../io/remote/cache/object_counts.ts";
import { isUrl, withoutSecrets } from "../../io/remote/remote_location.ts";
import { fillCache } from "../../io/remote/fill_cache.ts";
import { RemoteStorage } from "../../io/remote/remote_storage.ts";
import {
  countThumbnails,
  removeThumbnails,
  type StoredThumbnails,
} from "../../serve/files/thumbnail_store.ts";
import { open } from "../../open/open.ts";
import { Exit, ExitCode, UsageError } from "../exit.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { remoteOf } from "../input/remote_flags.ts";
import { report, warn } from "../messages.ts";
import { counted, formatBytes, formatFetched } from "../terminal/amounts.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { Opening } from "../terminal/opening.ts";
import { Progress } from "../terminal/progress.ts";
import { abortable } from "../terminal/signals.ts";
import { table } from "../terminal/table.ts";

interface CacheFlags {
  readonly cacheDir?: string | undefined;
  readonly cacheShared?: true | undefined;
  readonly json?: true | undefined;
}

export function makeCommand(program: Command): Command {
  const command = new Command("cache")
    .copyInheritedSettings(program);
  const add = (name: string, description: string) => {
    const made = new Command(name).description(description)
      .copyInheritedSettings(command);
    command.addCommand(made);
    return made;
  };
  const located = (made: Command) =>
    made.option(
      "--cache-dir <dir>",
      "the cache directory, if not the default one",
    )
      .option(
        "--cache-shared",
        "share that directory: trust its owner and group, who can write to it",
      );
  const json = () => new Option("--json", "print JSON");
  located(
    add("ls", "list cached objects: how much of each, and when it was used"),
  )
    .addOption(json())
    .action(list);
  located(
    add("rm", "delete the cached data of locations, unless a process uses it"),
  )
    .argument(
      "[source...]",
      "a URL: everything at and below it; or a path: its index",
    )
    .option("--all", "delete everything")
    .action(remove);
  located(
    add(
      "verify",
      "verify the checksums of the cache, and delete what is damaged",
    ),
  )
    .addOption(json())
    .action(verify);
  const fill = add("fill", "fetch a whole container into the cache")
    .argument("<source>", "URL of the container");
  withOptions(fill, "source").action(fillWith);
  return command;
}

function directoryOf({ cacheDir, cacheShared }: CacheFlags): CacheDirectory {
  if (cacheDir !== undefined && isNoDirectory(cacheDir)) {
    throw new UsageError(
      `--cache-dir ${cacheDir}: it is a file, not a directory`,
    );
  }
  const options = { directory: cacheDir, shared: cacheShared };
  const directory = new CacheDirectory(options, warn);
  directory.root.require();
  return directory;
}

function isNoDirectory(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && !found.isDirectory();
}

function list(flags: CacheFlags): void {
  const directory = directoryOf(flags);
  const objects: Listed[] = directory.objects()
    .sort((a, b) => b.used - a.used)
    .map((entry) => {
      const { facts: { url, size }, bytes, used } = entry;
      return {
        url,
        size,
        cached: Math.min(bytes, size), // disk blocks may exceed the size
        fetched: directory.countsOf(entry),
        used: new Date(used).toISOString(),
      };
    });
  const indexes: Listed[] = listKeptTables(directory.root)
    .sort((a, b) => b.used - a.used)
    .map(({ of, size, used }) => ({
      indexOf: of,
      size,
      cached: size,
      used: new Date(used).toISOString(),
    }));
  const thumbnails = countThumbnails(directory.root);
  const all = [...objects, ...indexes, ...listed(thumbnails)];
  print(flags.json ? all : table(all, COLUMNS));
}

/** Summarizes all thumbnails in one entry: their names carry no information. */
function listed({ count, bytes, used }: StoredThumbnails): Listed[] {
  if (count === 0) return [];
  const time = new Date(used).toISOString();
  return [{ thumbnails: count, size: bytes, cached: bytes, used: time }];
}

const COLUMNS = {
  OBJECT: ({ url, indexOf, thumbnails }: Listed) =>
    thumbnails !== undefined
      ? counted(thumbnails, "thumbnail")
      : url === undefined
      ? `index of ${nameWriter()(indexOf!)}`
      : nameWriter()(url),
  SIZE: ({ size }: Listed) => formatBytes(size),
  KEPT: ({ cached }: Listed) => formatBytes(cached),
  PART: ({ cached, size }: Listed) =>
    size === 0 ? "100 %" : `${Math.floor(100 * cached / size)} %`,
  FETCHED: ({ fetched }: Listed) =>
    fetched === undefined ? "" : formatFetched(fetched),
  USED: ({ used }: Listed) => used,
};

/** A remote object, the index of a container (also of a local one), or all thumbnails. */
interface Listed {
  readonly url?: string;
  readonly indexOf?: string;
  readonly thumbnails?: number;
  readonly size: number;
  readonly cached: number;
  /** Totals of all processes since the object was cached. */
  readonly fetched?: ObjectCounts;
  readonly used: string;
}

function remove(
  locations: readonly string[],
  flags: CacheFlags & { readonly all?: true },
): void {
  if (locations.length === 0 && !flags.all) {
    throw new UsageError("cache rm needs locations, or --all");
  }
  if (locations.length > 0 && flags.all) {
    throw new UsageError("cache rm takes locations or --all, not both");
  }
  const directory = directoryOf(flags);
  const indexes = listKeptTables(directory.root);
  const roots = locations.map((location) => rootOf(location, indexes));
  const objects = directory.objects();
  const chosen = flags.all
    ? objects
    : objects.filter(({ facts }) =>
      roots.some((root) => isIn(facts.url, root))
    );
  if (flags.all) directory.removeLists();
  const chosenIndexes = flags.all
    ? indexes
    : indexes.filter(({ of }) => roots.some((root) => isIn(of, root)));
  removeKeptTables(chosenIndexes);
  // Thumbnails do not record their container, and are cheap to recreate.
  const thumbnails = removeThumbnails(directory.root);
  let bytes = chosenIndexes.reduce((sum, { size }) => sum + size, 0) +
    thumbnails.bytes;
  let used = 0;
  for (const object of chosen) {
    if (directory.remove(object)) bytes += object.bytes;
    else used++;
  }
  directory.room.removeLeftovers();
  const counts = [
    counted(chosen.length - used, "object"),
    ...chosenIndexes.length === 0
      ? []
      : [counted(chosenIndexes.length, "index", "indexes")],
    ...thumbnails.count === 0 ? [] : [counted(thumbnails.count, "thumbnail")],
  ];
  const deleted = `${counts.join(" and ")} deleted, ${formatBytes(bytes)}`;
  if (used === 0) return print(`${deleted}\n`);
  const left = `${counted(used, "object")} in use and not deleted`;
  report(
    `${deleted}; ${left}. Unmount them, or end the processes that use them`,
  );
  throw new Exit(ExitCode.FAILED);
}

function rootOf(location: string, indexes: readonly CachedFile[]): string {
  if (isUrl(location)) return withoutSecrets(location).replace(/\/+$/, "");
  const path = resolve(location);
  if (indexes.some(({ of }) => isIn(of, path))) return path;
  throw new UsageError(
    `${location} is not a URL and has no cached index; \`recordfs cache ls\` lists the cached ones`,
  );
}

function isIn(url: string, root: string): boolean {
  return url === root || url.startsWith(`${root}/`);
}

function verify(flags: CacheFlags): void {
  const directory = directoryOf(flags);
  const objects = directory.objects();
  const total = objects.reduce((sum, { bytes }) => sum + bytes, 0);
  using bar = new Progress("comparing", "bytes", total);
  let done = 0;
  const found = objects.map((entry) => {
    const result = verifyOne(directory, entry);
    bar.update(done += entry.bytes);
    return { url: entry.facts.url, ...result };
  });
  const damaged = found.filter((one) => one.damaged > 0);
  if (flags.json) print(found);
  else {
    for (const { url, damaged: blocks } of damaged) {
      print(`${url}: ${counted(blocks, "block")} damaged and deleted\n`);
    }
    print(`${counted(objects.length, "object")}, ${damaged.length} damaged\n`);
  }
  if (damaged.length > 0) throw new Exit(ExitCode.FAILED);
}

function verifyOne(
  directory: CacheDirectory,
  entry: CachedEntry,
): { readonly blocks: number; readonly damaged: number } {
  const object = directory.reopen(entry);
  if (object === undefined) return { blocks: 0, damaged: 0 };
  const store = new DiskStore(object);
  try {
    return store.verify();
  } finally {
    store.close();
  }
}

async function fillWith(
  location: string,
  options: CommonOptions,
): Promise<void> {
  if (options.cache === false) {
    throw new UsageError("cache fill and --no-cache exclude each other");
  }
  if (!isUrl(location)) {
    throw new UsageError(
      `${location} is not a URL: it is on this machine already`,
    );
  }
  directoryOf(options);
  const remote = remoteOf(options);
  const { format, ext, maxRatio } = options;
  const missing = await abortable(async (signal) => {
    using opening = new Opening();
    const storage = new RemoteStorage(location, remote, opening);
    // Opening finds the related files, and checks that it is a container.
    using _container = await open(storage.root, {
      format,
      ext,
      maxRatio,
      storage,
      signal,
    });
    const files = await filesBelow(storage, storage.root, signal);
    opening[Symbol.dispose]();
    const total = files.reduce((sum, { size }) => sum + size, 0);
    using bar = new Progress("fetching", "bytes", total);
    let done = 0;
    let missing = 0;
    for (const { path } of files) {
      const source = await runAsync(storage.open(path), signal);
      try {
        if (!source.isLasting) throw cannotKeep(source.name);
        missing += await fillCache(
          source,
          (bytes) => bar.update(Math.min(done += bytes, total)),
          signal,
        );
      } finally {
        source.close();
      }
    }
    const what = `${withoutSecrets(location)}: ${
      counted(files.length, "object")
    }, ${formatBytes(total)}`;
    if (missing === 0) print(`${what}\n`);
    else {
      const lost = `of which ${formatBytes(missing)} could not be cached`;
      report(`${what}, ${lost}. Make the cache larger with --cache-size`);
    }
    return missing;
  });
  if (missing > 0) throw new Exit(ExitCode.FAILED);
}

function cannotKeep(name: string): RecordfsError {
  return new RecordfsError(
    "no-validator",
    `Cannot cache ${name}: its server sends no ETag, and its Last-Modified is missing or less than two ` +
      "seconds old. Have the server send an ETag, or try again later",
    { path: name },
  );
}

async function filesBelow(
  storage: RemoteStorage,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly size: number }[]> {
  const facts = await runAsync(storage.stat(path), signal);
  if (facts === undefined) return [];
  if (!facts.isDirectory) return [{ path, size: facts.size }];
  const found: { readonly path: string; readonly size: number }[] = [];
  for (const name of await runAsync(storage.list(path), signal) ?? []) {
    found.push(...await filesBelow(storage, `${path}/${name}`, signal));
  }
  return found;
}
