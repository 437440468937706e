/** Adapters as users write them, for `recordfs gulp --adapter`. */
import {
  AbstractDatasetAdapter,
  type AdaptedVideo,
  type ChunkSlice,
} from "@recordfs/recordfs/gulp";

interface FolderOptions {
  readonly folder: string;
  readonly everyNth?: number;
  readonly scale?: number;
  readonly labels?: boolean;
  readonly tags?: readonly string[];
}

/** Adapter of the files in a directory. Each is a video of one frame, whose metadata are the adapter's options. */
export class Folder extends AbstractDatasetAdapter {
  static override readonly options = [
    {
      name: "folder",
      type: "string",
      positional: true,
      description: "Directory of JPEGs",
    },
    {
      name: "everyNth",
      type: "integer",
      default: 1,
      description: "Leave out the others",
    },
    { name: "scale", type: "number", description: "A number to remember" },
    {
      name: "labels",
      type: "boolean",
      default: true,
      description: "Remember labels",
    },
    { name: "tags", type: "strings", description: "Words to remember" },
  ] as const;

  readonly #options: FolderOptions;
  readonly #names: readonly string[];

  constructor(options: FolderOptions) {
    super(options);
    this.#options = options;
    const { folder, everyNth = 1 } = options;
    this.#names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort()
      .filter((_, i) => i % everyNth === 0);
  }

  get length(): number {
    return this.#names.length;
  }

  *iterData(
    { start, stop }: ChunkSlice = { start: 0, stop: this.length },
  ): Iterable<AdaptedVideo> {
    const { folder, everyNth = 1, scale = 1, labels = true, tags = [] } =
      this.#options;
    for (const name of this.#names.slice(start, stop)) {
      const frames = [Deno.readFileSync(`${folder}/${name}`)];
      const meta = { everyNth, scale, tags: [...tags], labels };
      yield { id: name, meta, frames };
    }
  }
}

/** Adapter with an option that collides with a flag of the command. */
export class Clash extends Folder {
  static override readonly options = [
    ...Folder.options,
    { name: "json", type: "string", description: "Another --json" },
  ] as never;
}
