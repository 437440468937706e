/**
 * Reads all archives and containers of a directory with recordfs and with the peers that support them, and compares.
 */
import * as fs from "node:fs";
import { join, resolve } from "node:path";
import { needs } from "../support/programs/programs.ts";
import {
  ARCHIVE_PEERS,
  type ArchivePeer,
  extracted,
  isArchive,
  OWN,
} from "./archive_peers.ts";
import { differences, type Entries } from "./entries.ts";
import { OWN_PARQUET, PARQUET_PEERS } from "./parquet_peers.ts";

/** Result of one peer for a file. */
export interface Comparison {
  readonly peer: string;
  /** `same`, `differs`, or which program rejects it. */
  readonly verdict:
    | "same"
    | "differs"
    | "only we read"
    | "only they read"
    | "nobody reads";
  /** Differences, or reasons of rejection, one a line. */
  readonly lines: readonly string[];
}

/** Results for a file. */
export interface Compared {
  /** Path below the directory. */
  readonly path: string;
  readonly entries: number | undefined;
  readonly comparisons: readonly Comparison[];
}

/** Result of reading a file. */
type Reading =
  | { readonly entries: Entries; readonly error?: undefined }
  | { readonly entries?: undefined; readonly error: string };

/** Returns the peers that are not installed. */
export function missingPeers(): string[] {
  return ARCHIVE_PEERS.map(({ name }) => name)
    .filter((name) => !/file$/.test(name) && needs(name).ignore);
}

/**
 * Compares all files of a directory, at any depth, one after the other.
 *
 * @param isCompared Whether a path is compared; others are passed over.
 */
export async function* compareDirectory(
  dir: string,
  peers: readonly ArchivePeer[] = ARCHIVE_PEERS,
  isCompared: (path: string) => boolean = () => true,
): AsyncGenerator<Compared, void, undefined> {
  const missing = missingPeers();
  for (const path of filesOf(dir)) {
    if (!isCompared(path)) continue;
    const file = resolve(dir, path);
    if (path.endsWith(".parquet")) {
      const own = await read(() => OWN_PARQUET.read(file));
      const comparisons: Comparison[] = [];
      for (const peer of PARQUET_PEERS) {
        const theirs = await read(() => peer.read(file));
        comparisons.push({ peer: peer.name, ...compared(own, theirs) });
      }
      yield { path, entries: own.entries?.size, comparisons };
      continue;
    }
    const fits = (suffixes: readonly string[]) =>
      suffixes.some((suffix) => path.endsWith(suffix));
    if (!isArchive(path)) continue;
    const own = await extracted(OWN, file);
    const comparisons: Comparison[] = [];
    for (const peer of peers) {
      if (missing.includes(peer.name) || !fits(peer.suffixes)) continue;
      const theirs = await extracted(peer, file);
      const { name, ignored } = peer;
      comparisons.push({ peer: name, ...compared(own, theirs, ignored) });
    }
    yield { path, entries: own.entries?.size, comparisons };
  }
}

async function read(reading: () => Promise<Entries>): Promise<Reading> {
  try {
    return { entries: await reading() };
  } catch (error) {
    const [line = ""] = (error as Error).message.split("\n");
    return { error: line.slice(0, 300) };
  }
}

function compared(
  own: Reading,
  theirs: Reading,
  ignored?: readonly string[],
): Omit<Comparison, "peer"> {
  if (own.entries === undefined) {
    const lines = [`recordfs: ${own.error}`];
    return theirs.entries === undefined
      ? {
        verdict: "nobody reads",
        lines: [...lines, `the peer: ${theirs.error}`],
      }
      : { verdict: "only they read", lines };
  }
  if (theirs.entries === undefined) {
    return { verdict: "only we read", lines: [`the peer: ${theirs.error}`] };
  }
  const lines = differences(own.entries, theirs.entries, ignored);
  return { verdict: lines.length === 0 ? "same" : "differs", lines };
}

function filesOf(dir: string): string[] {
  const names = fs.readdirSync(dir, { recursive: true, encoding: "utf8" });
  return names.filter((name) => fs.statSync(join(dir, name)).isFile()).sort();
}
