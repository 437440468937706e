import type { JsonValue } from "../../../codecs/json/value.ts";
import type { WaitOptions } from "../../../io/storage/byte_source.ts";
import type { Frames } from "../write/frame_data.ts";
import type { VideoId } from "../ids/id_text.ts";
import {
  type AdapterOption,
  type AdapterOptions,
  assertOptions,
  completed,
  type OptionTaker,
} from "./options.ts";

/** The videos from `start` to before `stop`, counted from 0. */
export interface ChunkSlice {
  /** The first one. */
  readonly start: number;
  /** The one after the last. */
  readonly stop: number;
}

/** A video to be gulped. */
export interface AdaptedVideo {
  /** Its id, unlike all others. */
  readonly id: VideoId;
  /** What is to be known of it: plain data. */
  readonly meta: { readonly [key: string]: JsonValue };
  /** Its frames. Where reading them fails, an ingest goes on with the next video. */
  readonly frames: Frames;
}

/** A data set as `GulpIngestor` and `ChunkWriter` read it; {@linkcode AbstractDatasetAdapter} is one. */
export interface DatasetAdapter {
  /** How many videos there are. */
  readonly length: number;
  /** The videos, or those of a slice, always in the same order. */
  iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): Iterable<AdaptedVideo> | AsyncIterable<AdaptedVideo>;
  /**
   * The ids of all videos in their order. With it, ids that are there twice are found before
   * anything is written; without it, when they come.
   */
  readonly ids?: (() => Iterable<VideoId>) | undefined;
}

/** How another thread makes an adapter: `new` of what the module exports by that name, with options. */
export interface AdapterRecipe {
  /** URL of the module. */
  readonly module: string;
  /** Name of the class that it exports. */
  readonly name: string;
  /** What the class is constructed with; plain data. */
  readonly options: AdapterOptions;
}

/** A class of adapters, as a command line takes them. */
export interface AdapterClass {
  new (...options: never[]): DatasetAdapter;
  /** Makes one where that takes waiting; without it, `new` does. */
  open?(options: never): Promise<DatasetAdapter>;
  /** The options it takes, besides `outputFolder`. */
  readonly options?: readonly AdapterOption[];
}

/**
 * Base class of adapters: it makes a data set what can be gulped.
 *
 * A class that declares `static options` gets these as flags of `recordfs gulp --adapter`; one with
 * `static module = import.meta.url`, exported under its own name, can be used by several threads, each
 * of which makes it again from the options given to `super`. One that has to wait for something has
 * `static async open(options)`, which is used in place of `new`.
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
  /** The options that the constructor takes, besides `outputFolder`. */
  static readonly options: readonly AdapterOption[] = [];

  readonly #options: AdapterOptions;

  /**
   * Keeps the options.
   *
   * @param options What the adapter was constructed with.
   * @throws {TypeError} If one that is declared is not what it should be, or one is not declared.
   */
  constructor(options: object = {}) {
    this.#options = completed(options, []) as AdapterOptions;
    assertOptions(
      this.constructor as unknown as OptionTaker,
      this.#options,
    );
  }

  /** How many videos there are. */
  abstract readonly length: number;

  /** The videos, or those of a slice, always in the same order. */
  abstract iterData(
    slice?: ChunkSlice,
    options?: WaitOptions,
  ): Iterable<AdaptedVideo> | AsyncIterable<AdaptedVideo>;

  /** How another thread makes this adapter; `undefined` where it cannot. */
  get recipe(): AdapterRecipe | undefined {
    const { constructor } = this;
    // Inherited, it would be the module of another class.
    if (!Object.hasOwn(constructor, "module")) return undefined;
    const { module } = constructor as unknown as { readonly module: string };
    return { module, name: constructor.name, options: this.#options };
  }
}
