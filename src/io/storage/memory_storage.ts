import { RecordfsError } from "../../errors.ts";
import type { Steps } from "../concurrency/steps.ts";
import type { ByteSource, WaitOptions } from "./byte_source.ts";
import { MemorySource } from "./memory_source.ts";
import type { FileFacts, Storage } from "./storage.ts";

/** Files in memory, or wherever the parts of a `Blob` lie, by their paths. */
export class MemoryStorage implements Storage {
  /** In the order given, which numbers them. */
  readonly #files: ReadonlyMap<string, Uint8Array | Blob>;
  readonly #mtime = Date.now();

  /** @param files Their contents by path, such as `train/data.ffr`; bytes are not copied. */
  constructor(files: Readonly<Record<string, Uint8Array | Blob>>) {
    this.#files = new Map(
      Object.entries(files).map(([path, data]) => [normal(path), data]),
    );
  }

  // deno-lint-ignore require-yield -- what is in memory is never waited for
  *open(path: string): Steps<ByteSource> {
    const data = this.#files.get(normal(path));
    if (data instanceof Uint8Array) {
      return new MemorySource(data, path, this.#mtime);
    }
    if (data !== undefined) return new BlobSource(data, path, this.#mtime);
    if (this.#isDirectory(path)) {
      const why = "it is not a regular file";
      throw new RecordfsError("not-a-file", `Cannot open ${path}: ${why}`, {
        path,
      });
    }
    throw missing(path);
  }

  // deno-lint-ignore require-yield -- names are in memory
  *list(path: string): Steps<readonly string[] | undefined> {
    if (this.#files.has(normal(path))) return undefined;
    if (!this.#isDirectory(path)) throw missing(path);
    const start = below(path);
    const names = [...this.#files.keys()]
      .filter((file) => file.startsWith(start))
      .map((file) => file.slice(start.length).split("/")[0]!);
    return [...new Set(names)];
  }

  // deno-lint-ignore require-yield -- sizes are in memory
  *stat(path: string): Steps<FileFacts | undefined> {
    const data = this.#files.get(normal(path));
    const isDirectory = data === undefined;
    if (isDirectory && !this.#isDirectory(path)) return undefined;
    const size = data instanceof Blob ? data.size : data?.length ?? 0;
    const id = [...this.#files.keys()].indexOf(normal(path)) + 1;
    return { isDirectory, size, mtime: this.#mtime, id };
  }

  #isDirectory(path: string): boolean {
    const start = below(path);
    return start === "" ||
      [...this.#files.keys()].some((file) => file.startsWith(start));
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
    const part = this.#blob.slice(offset, offset + into.length);
    const bytes = new Uint8Array(await part.arrayBuffer());
    options.signal?.throwIfAborted();
    into.set(bytes);
    return bytes.length;
  }

  close(): void {}
}

/** Without `.`, `..` and empty parts: what `train//a/../data.ffr` names is `train/data.ffr`. */
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

function missing(path: string): RecordfsError {
  return new RecordfsError(
    "ENOENT",
    `Cannot open ${path}: there is no such file or directory`,
    { path },
  );
}
