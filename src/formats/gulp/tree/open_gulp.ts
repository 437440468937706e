import { basename } from "node:path";
import { FormatError, type RecordfsError } from "../../../base/errors.ts";
import { warnOnConsole } from "../../../base/message_text.ts";
import { encodeName } from "../../../base/names.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { notedInfo, SkippedList } from "../../../tree/archive/archive_notes.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../../tree/format.ts";
import { DIRECTORY } from "../kinds.ts";
import { readLabels } from "../meta/labels.ts";
import {
  type ChunkListing,
  findPartner,
  pairChunks,
} from "../read/chunk_files.ts";
import { type OpenedTree, openTree } from "./open_tree.ts";

/** Opens a directory of chunks, or one chunk. What cannot be read of it is left out, and told. */
export function* openGulp(
  location: string,
  options: ContainerOptions,
): Steps<Container> {
  const skipped = new SkippedList(location);
  const problems = problemLog(options, skipped);
  const { storage = LOCAL_DISK } = options;
  const listing = yield* listLocation(location, storage);
  const opened = yield* openTree(
    listing,
    storage,
    (problem, video) => problems.add(problem, video),
  );
  let labels: number | undefined;
  try {
    if (opened.labels !== undefined) {
      labels = (yield* readLabels(listing.labelPath, storage))?.size;
    }
  } catch (error) {
    if (!(error instanceof FormatError)) {
      opened.tree.close();
      throw error;
    }
    problems.say(error); // the file shows as it is
  }
  problems.end(location);
  const isDirectory = listing.chunks[0]?.dataPath !== location &&
    listing.chunks[0]?.metaPath !== location;
  return {
    tree: opened.tree,
    info: describe(location, opened, isDirectory, labels, skipped),
  };
}

function describe(
  location: string,
  opened: OpenedTree,
  isDirectory: boolean,
  labels: number | undefined,
  { facts: skipped }: SkippedList,
): ContainerInfo {
  const { tree, chunks, videos, frames, badVideos, badChunks } = opened;
  const unreadable = { listed: [], count: 0 };
  const { facts: odd, ...noted } = notedInfo([
    { archive: location, skipped, unreadable },
  ]);
  return {
    format: "gulp",
    kind: isDirectory ? DIRECTORY : "chunk",
    files: tree.nodeCount - 1 - videos,
    directories: videos,
    bytes: chunks.reduce(
      (sum, { dataSize, meta }) => sum + dataSize + meta.size,
      opened.labels?.size ?? 0,
    ),
    facts: {
      videos,
      frames,
      ...(labels === undefined ? {} : { labels }),
      ...(badVideos === 0 ? {} : { badVideos }),
      ...(badChunks === 0 ? {} : { badChunks }),
      ...odd,
    },
    ...noted,
    parts: chunks.map(({ dataPath, dataSize, meta }) => ({
      path: dataPath,
      bytes: dataSize,
      samples: meta.frameCount,
    })),
  };
}

/** The chunks of a location: a directory, or either file of one chunk. */
export function* listLocation(
  path: string,
  storage: Storage,
): Steps<ChunkListing> {
  const names = yield* storage.list(path);
  return names === undefined
    ? yield* findPartner(path, storage)
    : pairChunks(path, names);
}

/** More problems than that are only counted where they go to the console. */
const MOST_PROBLEMS = 20;

/** Says what is left out of a tree, and why, or how much more is at its end. */
function problemLog(
  { onWarning }: ContainerOptions,
  skipped: SkippedList,
) {
  const warn = onWarning ?? warnOnConsole;
  const most = onWarning === undefined ? MOST_PROBLEMS : Infinity;
  let count = 0;
  return {
    add(problem: RecordfsError, video?: Uint8Array): void {
      const file = basename(problem.path ?? "");
      skipped.addDamaged(
        video ?? encodeName(file),
        video === undefined ? "file" : "directory",
        problem,
      );
      this.say(problem);
    },
    say(problem: RecordfsError): void {
      if (count++ < most) warn(`Left out: ${problem.message}`);
    },
    end(location: string): void {
      if (count <= most) return;
      warn(
        `${basename(location)}: ${count - most} more are left out; ` +
          "`check()` names them all",
      );
    },
  };
}
