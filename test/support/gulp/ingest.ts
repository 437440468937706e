/** Ingests of frames that are made up, and what they leave. */
import * as fs from "node:fs";
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type AdapterOption,
  type ChunkSlice,
} from "../../../src/formats/gulp/mod.ts";
import { blockThread } from "../block_thread.ts";
import { fakeJpeg } from "./make_gulp.ts";

/** What a {@linkcode FakeAdapter} is to do. */
export interface FakeOptions {
  /** How many videos; each has one to five frames. */
  readonly count: number;
  /** What ids start with. */
  readonly prefix?: string;
  /** Milliseconds that each video takes. */
  readonly delay?: number;
  /** Video that misbehaves. */
  readonly at?: number;
  /** How: see `#misbehave`. */
  readonly how?: string;
  /** Whether ids are said beforehand. */
  readonly silent?: boolean;
  /** Bytes of a frame. */
  readonly size?: number;
}

/** Videos of fake JPEGs; every seventh cannot be read. */
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

/** Files of a directory by their names, as text that compares. */
export function filesOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    fs.readdirSync(dir).sort().map((name) => [
      name,
      fs.readFileSync(`${dir}/${name}`, "latin1"),
    ]),
  );
}

/** Names of the files that are no complete chunk. */
export function leftovers(dir: string): string[] {
  return fs.readdirSync(dir).filter((name) =>
    !/^(data_\d+\.gulp|meta_\d+\.gmeta)$/.test(name)
  );
}
