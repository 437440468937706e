import { Buffer } from "node:buffer";
import { PickleError } from "../../../codecs/pickle/pickle_error.ts";
import { GulpChunk } from "../read/chunk.ts";
import { findPartner } from "../read/chunk_files.ts";
import { GulpDirectory } from "../read/directory.ts";
import { decodedName, nameOfId } from "../ids/id_names.ts";
import { decodeId, encodeId } from "../ids/id_text.ts";
import type { StoredVideoMeta } from "../meta/video_meta.ts";
import type { SourceOptions } from "../../../convert/from/source.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { decodeName, encodeName } from "../../../base/names.ts";

/** A chunk whose frames stay JPEGs. */
export type RawChunk = GulpChunk<Uint8Array<ArrayBuffer>>;

/** Opens the chunks of a directory, or one chunk by either of its files. */
export async function openChunks(
  path: string,
  isDirectory: boolean,
  { signal, storage }: SourceOptions,
): Promise<RawChunk[]> {
  // Warnings were given when the container was opened.
  const options = { decode: false, signal, storage, onWarning() {} } as const;
  if (isDirectory) return [...await GulpDirectory.open(path, options)];
  const { chunks, problems } = await runAsync(
    findPartner(path, storage),
    signal,
  );
  const [paths] = chunks;
  if (paths === undefined) throw problems[0]!;
  return [await GulpChunk.load(paths.dataPath, paths.metaPath, options)];
}

/** What the meta files say of the videos, in their order. */
export function* metasOf(
  chunks: readonly RawChunk[],
): Generator<[id: string, meta: StoredVideoMeta, chunk: RawChunk], void> {
  for (const chunk of chunks) {
    for (const [id, meta] of chunk.metaDict) {
      yield [id, meta as StoredVideoMeta, chunk];
    }
  }
}

/** How many names a plan lists. */
const LISTED = 3;

/** What of videos their files do not show, to be noted as lost. */
export function lostInFiles(
  chunks: readonly RawChunk[],
  badVideos: number,
): string[] {
  const lost = lostMeta(chunks);
  if (badVideos > 0) {
    lost.push(`videos that cannot be read (${badVideos}), which warnings name`);
  }
  return lost;
}

/** The meta data that readers do not give, of videos that were appended more than once. */
export function lostMeta(chunks: readonly RawChunk[]): string[] {
  const ids: string[] = [];
  for (const [id, { metaCount }] of metasOf(chunks)) {
    if (metaCount > 1) ids.push(id);
  }
  return ids.length === 0
    ? []
    : [`all but the first of the meta data of ${listed(ids)}`];
}

/** The first few of some names, and how many more there are. */
export function listed(
  names: readonly string[],
  show = (name: string): string => JSON.stringify(name),
): string {
  const first = names.slice(0, LISTED).map((name) => show(name)).join(", ");
  const more = names.length - LISTED;
  return more > 0 ? `${first} and ${more} more` : first;
}

/** The ids that the names of their directories do not say, since they were cut, by those names. */
export function cutIds(chunks: readonly RawChunk[]): Map<string, string> {
  const cut = new Map<string, string>();
  for (const [id] of metasOf(chunks)) {
    const name = decodeName(nameOfId(encodeId(id)));
    if (idOfName(name) !== id) cut.set(name, id);
  }
  return cut;
}

/** The id that a tree would show under this name; the name itself where that is of another origin. */
export function idOfName(name: string): string {
  const given = encodeName(name);
  const id = decodedName(given);
  const isSame = Buffer.compare(nameOfId(id), given) === 0;
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
