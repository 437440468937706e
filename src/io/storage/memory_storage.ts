import { RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource, WaitOptions } from "./byte_source.ts";
import { MemorySource } from "./memory_source.ts";
import { noSuchFile, type Storage } from "./storage.ts";

/** Files in memory, or wherever the parts of a `Blob` lie, by path. */
export class MemoryStorage implements Storage {
  /** Each file's data, and `undefined` for the directories above. */
  readonly #nodes = new Map<string, Uint8Array | Blob | undefined>([
    ["", undefined],
  ]);
  readonly #mtime = Date.now();

  /**
   * Creates a storage of files.
   *
   * @param files Contents by path, such as `train/data.ffr`; bytes are not copied.
   */
  constructor(files: Readonly<Record<string, Uint8Array | Blob>>) {
    for (const [path, data] of Object.entries(files)) {
      const parts = normal(path).split("/");
      for (let depth = 1; depth < parts.length; depth++) {
        const directory = parts.slice(0, depth).join("/");
        this.#nodes.set(directory, this.#nodes.get(directory));
      }
      this.#nodes.set(parts.join("/"), data);
    }
  }

  /** Opens a file. Bytes are available at once; those of a `Blob` must be waited for. */
  // deno-lint-ignore require-yield -- what is in memory is never waited for
  *open(path: string): Steps<ByteSource> {
    const data = this.#at(path);
    if (data instanceof Uint8Array) {
      return new MemorySource(data, path, this.#mtime);
    }
    if (data !== undefined) return new BlobSource(data, path, this.#mtime);
    const why = "it is not a regular file";
    throw new RecordfsError("not-a-file", `Cannot open ${path}: ${why}`, {
      path,
    });
  }

  /** Lists the names in a directory. */
  // deno-lint-ignore require-yield -- names are in memory
  *list(path: string): Steps<readonly string[] | undefined> {
    if (this.#at(path) !== undefined) return undefined;
    const start = below(path);
    return [...this.#nodes.keys()]
      .filter((node) => node.startsWith(start) && node.length > start.length)
      .map((node) => node.slice(start.length))
      .filter((name) => !name.includes("/"));
  }

  /** Returns metadata of a file or directory. */
  // deno-lint-ignore require-yield -- sizes are in memory
  *stat(path: string): ReturnType<Storage["stat"]> {
    const id = [...this.#nodes.keys()].indexOf(normal(path)) + 1;
    if (id === 0) return undefined;
    const data = this.#at(path);
    const size = data instanceof Blob ? data.size : data?.length ?? 0;
    return { isDirectory: data === undefined, size, mtime: this.#mtime, id };
  }

  #at(path: string): Uint8Array | Blob | undefined {
    const node = normal(path);
    if (this.#nodes.has(node)) return this.#nodes.get(node);
    throw noSuchFile(path);
  }
}

/** The bytes of a `Blob`, such as a file that a browser's user has chosen. */
class BlobSource implements ByteSource {
  readonly name: string;
  readonly size: number;
  readonly mtime: number;
  readonly #blob: Blob;

  constructor(blob: Blob, name: string, mtime: number) {
    this.#blob = blob;
    this.name = name;
    this.size = blob.size;
    this.mtime = mtime;
  }

  async readAt(
    into: Uint8Array,
    offset: number,
    options: WaitOptions = {},
  ): Promise<number> {
    options.signal?.throwIfAborted();
    const part = this.#blob.slice(offset, offset + into.byteLength);
    const bytes = new Uint8Array(await part.arrayBuffer());
    options.signal?.throwIfAborted();
    into.set(bytes);
    return bytes.byteLength;
  }

  close(): void {}
}

/** Resolves `.`, `..` and empty parts: `train//a/../data.ffr` becomes `train/data.ffr`. */
function normal(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

function below(path: string): string {
  const directory = normal(path);
  return directory === "" ? "" : `${directory}/`;
}
