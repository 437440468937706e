/** Ingests fake frames, and reads the results. */
import * as fs from "node:fs";
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterOption,
  type ChunkSlice,
} from "../../../src/formats/gulp/mod.ts";
import { blockThread } from "../block_thread.ts";
import { fakeJpeg } from "./make_gulp.ts";

/** Options of a {@linkcode FakeAdapter}. */
export interface FakeOptions {
  /** Number of videos; each has one to five frames. */
  readonly count: number;
  /** Prefix of ids. */
  readonly prefix?: string;
  /** Delay per video, in milliseconds. */
  readonly delay?: number;
  /** Index of the video that misbehaves. */
  readonly at?: number;
  /** Kind of misbehaviour: see `#misbehave`. */
  readonly how?: string;
  /** Hides the ids from the ingestor until videos are yielded. */
  readonly silent?: boolean;
  /** Size of a frame in bytes. */
  readonly size?: number;
}

/** Adapter of videos of fake JPEGs. Every seventh video cannot be read. */
export class FakeAdapter extends AbstractDatasetAdapter {
  static readonly module: string = import.meta.url;
  static override readonly options: readonly AdapterOption[] = [
    { name: "count", type: "integer", positional: true, description: "" },
    { name: "prefix", type: "string", description: "" },
    { name: "delay", type: "integer", description: "" },
    { name: "at", type: "integer", description: "" },
    { name: "how", type: "string", description: "" },
    { name: "silent", type: "boolean", description: "" },
    { name: "size", type: "integer", description: "" },
  ];

  readonly #options: FakeOptions;
  readonly ids: (() => Iterable<string>) | undefined;

  constructor(options: FakeOptions) {
    super(options);
    this.#options = options;
    const { count, silent } = options;
    if (silent === true) this.ids = undefined;
    else {
      this.ids = () => Array.from({ length: count }, (_, i) => this.#id(i));
    }
  }

  get length(): number {
    return this.#options.count;
  }

  async *iterData(
    { start, stop }: ChunkSlice = { start: 0, stop: this.length },
  ): AsyncGenerator<AdaptedVideo, void> {
    const { delay = 0, at, how = "" } = this.#options;
    for (let i = start; i < stop; i++) {
      if (delay > 0) await new Promise((done) => setTimeout(done, delay));
      if (i === at) await this.#misbehave(how);
      yield { id: this.#id(i), meta: { i }, frames: this.#frames(i) };
    }
  }

  #id(i: number): string {
    const { prefix = "v", how, at } = this.#options;
    return how === "duplicate" && i === at ? `${prefix}0` : `${prefix}${i}`;
  }

  *#frames(i: number): Generator<Uint8Array, void> {
    const { size = 5 } = this.#options;
    for (let k = 0; k <= i % 5; k++) {
      if (i % 7 === 6 && k > 0) throw new Error(`cannot read ${i}`);
      yield fakeJpeg(size + i % 4, k);
    }
  }

  async #misbehave(how: string): Promise<void> {
    switch (how) {
      case "throw":
        throw new TypeError("the adapter is wrong");
      case "crash":
        setTimeout(() => {
          throw new Error("out of the blue");
        });
        return await new Promise(() => {});
      case "close":
        return globalThis.close();
      case "exit":
        return Deno.exit(3);
      case "block":
        return blockThread();
      case "hang":
        return await new Promise(() => {});
    }
  }
}

/** Reads the files of a directory as Latin-1 text, by name. */
export function filesOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    fs.readdirSync(dir).sort().map((name) => [
      name,
      fs.readFileSync(`${dir}/${name}`, "latin1"),
    ]),
  );
}

/** Returns the names of files that do not belong to a complete chunk. */
export function leftovers(dir: string): string[] {
  return fs.readdirSync(dir).filter((name) =>
    !/^(data_\d+\.gulp|meta_\d+\.gmeta)$/.test(name)
  );
}
