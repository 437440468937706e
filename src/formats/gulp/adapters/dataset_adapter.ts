import type { Image } from "../../../codecs/image/image.ts";
import type { JsonValue } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { VideoId } from "../ids/id_text.ts";
import type { makeAdapter } from "./load_adapter.ts";
import {
  type AdapterOption,
  type AdapterOptions,
  assertOptions,
  completed,
  type OptionTaker,
} from "./options.ts";

/** Range of videos, counted from 0. */
export interface ChunkSlice {
  /** First video. */
  readonly start: number;
  /** Video after the last. */
  readonly stop: number;
}

/** A video to gulp. */
export interface AdaptedVideo {
  /** Unique id. */
  readonly id: VideoId;
  /** Metadata; plain data. */
  readonly meta: { readonly [key: string]: JsonValue };
  /**
   * Frames: pixels, which are encoded with quality 90, or JPEGs, which are stored unchanged. If reading them fails, an
   * ingest continues with the next video.
   */
  readonly frames:
    | Iterable<Image | Uint8Array>
    | AsyncIterable<Image | Uint8Array>;
}

/** Data set that `GulpIngestor` and `ChunkWriter` read, such as an {@linkcode AbstractDatasetAdapter}. */
export interface DatasetAdapter {
  /** Number of videos. */
  readonly length: number;
  /** Iterates over the videos, or a slice of them, always in the same order. */
  iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): Iterable<AdaptedVideo> | AsyncIterable<AdaptedVideo>;
  /**
   * Returns the ids of all videos in order. With it, duplicate ids are found before anything is written; without it,
   * when they are reached.
   */
  readonly ids?: (() => Iterable<VideoId>) | undefined;
  /**
   * Says why there are no videos: where they were looked for, and by which suffixes. Completes `Cannot ingest: `, as
   * `no clips found in data/ (looked for .mp4)`. Without it, the error has general words.
   */
  readonly whyEmpty?: (() => string) | undefined;
}

/** Adapter class as the command line uses it. */
export interface AdapterClass {
  new (...options: never[]): DatasetAdapter;
  /** Asynchronous constructor; used instead of `new` if present. */
  open?(options: never): Promise<DatasetAdapter>;
  /** Options other than `outputFolder`. */
  readonly options?: readonly AdapterOption[];
}

/**
 * Base class of adapters, which make a data set available for gulping.
 *
 * `static options` of a subclass become flags of `recordfs gulp --adapter`. A subclass with
 * `static module = import.meta.url`, exported under its own name, can run in several threads: each constructs it again
 * from the options given to `super`. A subclass that must wait declares `static async open(options)`, which is called
 * instead of `new`.
 *
 * @example An adapter of one's own
 * ```ts
 * import { AbstractDatasetAdapter, type ChunkSlice } from "@recordfs/recordfs/gulp";
 *
 * export class Clips extends AbstractDatasetAdapter {
 *   static readonly module = import.meta.url;
 *   static override readonly options = [
 *     { name: "folder", type: "string", positional: true, description: "Directory of clips" },
 *   ] as const;
 *   readonly #names: string[];
 *
 *   constructor(options: { folder: string }) {
 *     super(options);
 *     this.#names = [...Deno.readDirSync(options.folder)].map(({ name }) => name).sort();
 *     this.folder = options.folder;
 *   }
 *   readonly folder: string;
 *
 *   get length(): number {
 *     return this.#names.length;
 *   }
 *
 *   *iterData({ start, stop }: ChunkSlice = { start: 0, stop: this.length }) {
 *     for (const name of this.#names.slice(start, stop)) {
 *       const jpeg = Deno.readFileSync(`${this.folder}/${name}`);
 *       yield { id: name, meta: { label: "clip" }, frames: [jpeg] };
 *     }
 *   }
 * }
 * ```
 */
export abstract class AbstractDatasetAdapter implements DatasetAdapter {
  /** Options of the constructor, other than `outputFolder`. */
  static readonly options: readonly AdapterOption[] = [];

  readonly #options: AdapterOptions;

  /**
   * Stores the options and checks them against those declared.
   *
   * @param options Options given to the adapter's constructor.
   * @throws {TypeError} If an option has the wrong type or is not declared.
   */
  constructor(options: object = {}) {
    this.#options = completed(options, []) as AdapterOptions;
    assertOptions(
      this.constructor as unknown as OptionTaker,
      this.#options,
    );
  }

  /** Number of videos. */
  abstract readonly length: number;

  /** Iterates over the videos, or a slice of them, always in the same order. */
  abstract iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): Iterable<AdaptedVideo> | AsyncIterable<AdaptedVideo>;

  /** Remote constructor of this adapter for other threads; `undefined` if the class does not support them. */
  get recipe(): Parameters<typeof makeAdapter>[0] | undefined {
    const { constructor } = this;
    // An inherited `module` would name another class's module.
    if (!Object.hasOwn(constructor, "module")) return undefined;
    const { module } = constructor as unknown as { readonly module: string };
    return { module, name: constructor.name, options: this.#options };
  }
}
