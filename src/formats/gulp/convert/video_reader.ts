import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { GulpChunk } from "../read/chunk.ts";
import { findPartner } from "../read/chunk_files.ts";
import type { RawVideo } from "../read/decoding.ts";
import { GulpDirectory } from "../read/directory.ts";
import type { FrameSlice } from "../read/frame_selection.ts";
import { nameOfId } from "../ids/id_names.ts";
import { decodeId, encodeId } from "../ids/id_text.ts";
import type { LazyMap } from "../meta/lazy_map.ts";
import type { VideoMeta } from "../meta/serializer.ts";
import { StoredVideoMeta } from "../meta/video_meta.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { decodeName, encodeName } from "../../../names.ts";

/** Videos of GulpIO, whose frames stay JPEGs. */
export interface VideoReader extends Disposable {
  /** How many there are. */
  readonly length: number;
  /** What the meta files say of them, in their order. */
  readonly metas: LazyMap<VideoMeta>;
  /** Reads a stretch of a video's frames. */
  read(id: string, part: FrameSlice, options: WaitOptions): Promise<RawVideo>;
}

/** Opens a directory of chunks, or one chunk by either of its files. */
export async function openVideos(
  path: string,
  isChunk: boolean,
  { signal }: WaitOptions,
): Promise<VideoReader> {
  const options = { decode: false, signal } as const;
  if (!isChunk) {
    const directory = await GulpDirectory.open(path, options);
    return {
      length: directory.length,
      metas: directory.mergedMetaDict,
      read: (id, part, options) => directory.getRaw(id, part, options),
      [Symbol.dispose]: () => directory.close(),
    };
  }
  const { chunks, problems } = await runAsync(findPartner(path), signal);
  const [paths] = chunks;
  if (paths === undefined) throw problems[0]!;
  const chunk = await GulpChunk.load(paths.dataPath, paths.metaPath, options);
  return {
    length: chunk.length,
    metas: chunk.metaDict,
    read: (id, part, options) => chunk.readRaw(id, part, options),
    [Symbol.dispose]: () => chunk.close(),
  };
}

/** How many ids a plan lists. */
const LISTED = 3;

/** What of videos their files do not show, to be noted as lost. */
export function lostInFiles(
  { reader, badVideos }: {
    readonly reader: VideoReader;
    readonly badVideos: number;
  },
): string[] {
  const lost = lostMeta(reader);
  if (badVideos > 0) {
    lost.push(`videos that cannot be read (${badVideos}), which warnings name`);
  }
  return lost;
}

/** The meta data that readers do not give, of videos that were appended more than once. */
export function lostMeta({ metas }: VideoReader): string[] {
  const ids: string[] = [];
  for (const [id, meta] of metas) {
    const items = meta instanceof StoredVideoMeta
      ? meta.metaCount
      : meta.metaData.length;
    if (items > 1) ids.push(id);
  }
  return ids.length === 0
    ? []
    : [`all but the first of the meta data of ${listed(ids)}`];
}

/** The first few of some ids, quoted, and how many more there are. */
export function listed(ids: readonly string[]): string {
  const first = ids.slice(0, LISTED).map((id) => JSON.stringify(id)).join(", ");
  return ids.length > LISTED
    ? `${first} and ${ids.length - LISTED} more`
    : first;
}

/** The ids that the names of their directories do not say, since they were cut, by those names. */
export function cutIds({ metas }: VideoReader): Map<string, string> {
  const cut = new Map<string, string>();
  for (const id of metas.keys()) {
    const name = decodeName(nameOfId(encodeId(id)));
    if (idOfName(name) !== id) cut.set(name, id);
  }
  return cut;
}

/** The id that a tree would show under this name; the name itself where that is of another origin. */
export function idOfName(name: string): string {
  const bytes: number[] = [];
  const given = encodeName(name);
  for (let i = 0; i < given.length; i++) {
    const hex = given[i] === 0x25
      ? decodeName(given, i + 1, Math.min(given.length, i + 3))
      : "";
    if (/^[0-9A-F]{2}$/.test(hex)) {
      bytes.push(parseInt(hex, 16));
      i += 2;
    } else if (given[i] !== 0x25 || given.length > 1) bytes.push(given[i]!);
  }
  const id = Uint8Array.from(bytes);
  const shown = nameOfId(id);
  const isSame = shown.length === given.length &&
    shown.every((byte, i) => byte === given[i]);
  return isSame ? textOf(id) ?? name : name;
}

/** Bytes of names are not always a text; those of ids are. */
function textOf(id: Uint8Array): string | undefined {
  try {
    return decodeId(id);
  } catch (error) {
    if (error instanceof PickleError) return undefined;
    throw error;
  }
}
