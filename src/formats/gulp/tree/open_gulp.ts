import { FormatError, RecordfsError } from "../../../base/errors.ts";
import { warnOfAll } from "../../../base/message_text.ts";
import { encodeName } from "../../../base/names.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { openFile } from "../../../io/storage/open_file.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import {
  notedInfo,
  noteLines,
  SkippedList,
} from "../../../tree/archive/archive_notes.ts";
import type {
  Container,
  ContainerInfo,
  ContainerOptions,
} from "../../../tree/format.ts";
import { lostNotes } from "../../../tree/samples/open_shards.ts";
import { DIRECTORY } from "../kinds.ts";
import { readLabels } from "../meta/labels.ts";
import {
  type ChunkListing,
  findPartner,
  LABEL_FILE,
  pairChunks,
} from "../read/chunk_files.ts";
import { openSamples } from "../read/gulp_samples.ts";
import { makeTree, type ShownTree } from "./make_tree.ts";

/**
 * Opens a directory of chunks, or one chunk, as one tree. Shows videos that can be read completely; of two with the
 * same id, the first. Reports skipped ones. Throws FormatError if there are chunks and none can be opened.
 */
export function* openGulp(
  location: string,
  options: ContainerOptions,
): Steps<Container> {
  const { storage = LOCAL_DISK, onWarning } = options;
  const skipped = new SkippedList(location);
  const listing = yield* listLocation(location, storage);
  const { labelPath } = listing;
  const twice = new Map<number, FormatError>();
  const samples = yield* openSamples(
    listing,
    { storage },
    (error, video) => twice.set(video, error),
  );
  let file: ByteSource | undefined;
  try {
    const odd: string[] = [];
    let labels: number | undefined;
    try {
      if (labelPath !== undefined) file = yield* openFile(storage, labelPath);
      labels = (yield* readLabels(labelPath, storage))?.size;
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      // A damaged file is shown unchanged.
      if (file === undefined) {
        skipped.addDamaged(encodeName(LABEL_FILE), "file", error);
      } else if (error instanceof FormatError) odd.push(error.message);
      else throw error;
    }
    const shown = makeTree(
      samples,
      file,
      twice,
      (fault, name) => skipped.addDamaged(name, "directory", fault),
    );
    const unreadable = { listed: [], count: 0 };
    const notes = [
      { archive: location, skipped: skipped.facts, unreadable },
      ...lostNotes(samples.shards.lost),
    ];
    warnOfAll([...odd, ...noteLines(notes)], onWarning);
    const noted = notedInfo(notes);
    const [first] = listing.chunks;
    const isChunk = first?.dataPath === location ||
      first?.metaPath === location;
    const kind = isChunk ? "chunk" : DIRECTORY;
    const info = describe(kind, shown, file?.size ?? 0, labels, noted);
    return { tree: shown.tree, samples, info };
  } catch (error) {
    samples.close();
    file?.close();
    throw error;
  }
}

function describe(
  kind: string,
  { tree, chunks, videos, frames, badVideos }: ShownTree,
  labelBytes: number,
  labels: number | undefined,
  { facts, ...noted }: ReturnType<typeof notedInfo>,
): ContainerInfo {
  return {
    format: "gulp",
    kind,
    files: tree.nodeCount - 1 - videos,
    directories: videos,
    bytes: chunks.reduce(
      (sum, { dataSize, meta }) => sum + dataSize + meta.size,
      labelBytes,
    ),
    facts: {
      videos,
      frames,
      ...(labels === undefined ? {} : { labels }),
      ...(badVideos === 0 ? {} : { badVideos }),
      ...facts,
    },
    ...noted,
    parts: chunks.map(({ dataPath, dataSize, meta }) => ({
      path: dataPath,
      bytes: dataSize,
      samples: meta.frameCount,
    })),
  };
}

/** Lists the chunks of a location: a directory, or either file of one chunk. */
export function* listLocation(
  path: string,
  storage: Storage,
): Steps<ChunkListing> {
  const names = yield* storage.list(path);
  return names === undefined
    ? yield* findPartner(path, storage)
    : pairChunks(path, names);
}
