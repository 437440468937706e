import type { Image } from "../../../codecs/image/image.ts";
import type { FormatError } from "../../../base/errors.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import { readSlices } from "../../../io/read/read_slices.ts";
import { reopenSources } from "../../../io/storage/open_sources.ts";
import { LOCAL_DISK, type Storage } from "../../../io/storage/storage.ts";
import { openSound } from "../../../tree/samples/open_shards.ts";
import { VALUE_TYPES } from "../../../codecs/values/value_type.ts";
import type {
  Field,
  PortableSamples,
  ReadSamplesOptions,
  Samples,
  SamplesHandle,
} from "../../../tree/samples/samples.ts";
import { ChunkMeta } from "../meta/chunk_meta.ts";
import type { ChunkListing } from "./chunk_files.ts";
import { ChunkTable, type OnTwice } from "./chunk_table.ts";
import { type RawVideo, type Video, VideoDecoder } from "./decoding.ts";
import {
  type ChunkOptions,
  OpenedChunk,
  type SharedChunk,
} from "./opened_chunk.ts";
import { readFrames } from "./read_frames.ts";

/** Field of a video's frames; all other fields are those of its metadata. */
const FRAMES = "frames";

const { jpeg, json, text } = VALUE_TYPES;
/** Fields of a video in other formats. */
const PORTABLE_FIELDS: readonly Field[] = [
  { name: "id", type: text, isList: false },
  { name: FRAMES, type: jpeg, isList: true },
  { name: "meta", type: json, isList: false },
];

export interface GulpVideo extends Video<Image> {
  readonly id: string;
}

/** Videos of chunks as samples: the JPEGs of their frames, and their metadata, whose keys are fields. */
export class GulpSamples implements Samples<RawVideo, GulpVideo> {
  readonly unit = "video";
  /** Undefined, since each video has metadata of its own. */
  readonly fields = undefined;
  readonly stores = "fields";
  readonly shards: ChunkTable;
  readonly storage: Storage;
  readonly #decoder = new VideoDecoder<Image>({});

  constructor(shards: ChunkTable, storage: Storage) {
    this.shards = shards;
    this.storage = storage;
  }

  *read(
    indices: readonly number[],
    { fields, memory }: ReadSamplesOptions,
  ): Steps<RawVideo[]> {
    const hasFrames = fields === undefined || fields.includes(FRAMES);
    if (hasFrames && indices.length === 1) {
      const { chunk, video } = this.shards.at(indices[0]!);
      return [yield* chunk.readVideo(video, undefined, memory)];
    }
    const videos = indices.map((index) => this.shards.at(index));
    const slices = videos.map(({ chunk, video }, i) =>
      hasFrames
        ? chunk.slices(video, undefined, this.shards.shardOf(indices[i]!))
        : []
    );
    const data = { at: (i: number) => this.shards.shards[i]!.data };
    const frames = yield* readFrames(data, slices.flat(), memory);
    const texts = yield* readSlices(
      { at: (i) => videos[i]!.chunk.meta.text },
      videos.map(({ chunk, video }, source) => ({
        source,
        ...chunk.meta.metaPlace(video),
      })),
    );
    let start = 0;
    return videos.map(({ chunk, video }, i) => ({
      frames: frames.slice(start, start += slices[i]!.length),
      meta: chunk.meta.parseMeta(video, texts[i]!),
    }));
  }

  decode(index: number, raw: RawVideo): GulpVideo | Promise<GulpVideo> {
    const id = this.keyOf(index);
    const { frames = [], meta }: Partial<RawVideo> & Pick<RawVideo, "meta"> =
      raw; // the caller may decode the frames
    if (frames.length === 0) return { id, frames: [], meta };
    return this.#decoder.decode(raw).then((video) => ({ id, ...video }));
  }

  // deno-lint-ignore require-yield -- all videos have the same
  *portable(): Steps<PortableSamples<RawVideo>> {
    return {
      fields: PORTABLE_FIELDS,
      isNullable: false,
      read: (indices, options) => this.read(indices, options),
      decode: (index, { frames, meta }) => ({
        id: this.keyOf(index),
        frames,
        meta,
      }),
    };
  }

  valueIn({ meta }: GulpVideo, key: string): unknown {
    return Object.hasOwn(meta, key) ? meta[key] : undefined;
  }

  keyOf(index: number): string {
    return this.shards.id(index);
  }

  prefetch(indices: readonly number[], { fields }: ReadSamplesOptions): number {
    const frames = fields?.includes(FRAMES) === false ? [] : undefined;
    return indices.reduce((bytes, index) => {
      const { chunk, video } = this.shards.at(index);
      return bytes + chunk.prefetchVideo(video, frames);
    }, 0);
  }

  share(): SamplesHandle {
    const chunks = this.shards.shards.map((chunk) => chunk.share());
    return { module: import.meta.url, data: chunks };
  }

  close(): void {
    for (const chunk of this.shards.shards) chunk.close();
  }
}

/**
 * Opens chunks. Skips those that are damaged or miss a file; throws FormatError if all are. Calls `onTwice` with
 * duplicate ids; by default, throws the first.
 */
export function* openSamples(
  { chunks, problems }: ChunkListing,
  options: ChunkOptions,
  onTwice: OnTwice = fail,
): Steps<GulpSamples> {
  const paths = [
    ...chunks.map(({ metaPath }) => metaPath), // the file that describes the content
    ...problems.map(({ path = "" }) => path),
  ];
  const { sound, lost } = yield* openSound(paths, function* (_, at) {
    const problem = problems[at - chunks.length];
    if (problem !== undefined) throw problem;
    const { dataPath, metaPath } = chunks[at]!;
    return yield* OpenedChunk.open(dataPath, metaPath, options);
  });
  const table = new ChunkTable(sound, lost);
  const samples = new GulpSamples(table, options.storage ?? LOCAL_DISK);
  try {
    table.findTwice(onTwice);
    return samples;
  } catch (error) {
    samples.close();
    throw error;
  }
}

function fail(error: FormatError): never {
  throw error;
}

/** Opens chunks that another thread has opened, using its tables. */
export function* reopenSamples(
  chunks: readonly SharedChunk[],
  storage: Storage,
): Steps<GulpSamples> {
  const metas = chunks.map(({ meta }) => meta);
  const stored = metas.filter(({ text }) => text === undefined);
  const files = [...chunks.map(({ data }) => data), ...stored];
  const sources = yield* reopenSources(storage, files);
  let next = chunks.length;
  const opened = chunks.map(({ data, meta }, at) => {
    const file = meta.text === undefined ? sources[next++] : undefined;
    const reopened = ChunkMeta.reopen(meta, file);
    return new OpenedChunk(data.path, sources[at], reopened);
  });
  return new GulpSamples(new ChunkTable(opened), storage);
}
