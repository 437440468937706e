import { receiveMessageOnPort } from "node:worker_threads";
import { FormatError, RecordfsError } from "../../src/base/errors.ts";
import { perform, type Steps } from "../../src/io/concurrency/steps.ts";
import { blockOf, Known } from "../../src/io/remote/cache/block_store.ts";
import { RemoteError } from "../../src/io/remote/remote_error.ts";
import type { ByteSource } from "../../src/io/storage/byte_source.ts";
import type { FileSource } from "../../src/io/storage/file_source.ts";
import { openBlockFile } from "../../src/io/remote/cache/block_file.ts";
import type { FileFacts, Storage } from "../../src/io/storage/storage.ts";
import { deserializeError } from "../../src/base/serialized_error.ts";
import type {
  FetchRequest,
  FetchResponse,
  OpenedObject,
  PendingRequest,
} from "./fetch_messages.ts";

/**
 * Storage of remote files for a thread without an event loop: each call blocks until the fetch thread has
 * responded. Only for parts of an index, which are few.
 */
export class BlockingStorage implements Storage {
  readonly #port: MessagePort;

  constructor(port: MessagePort) {
    this.#port = port;
  }

  open(path: string): Steps<ByteSource> {
    return atOnce(() => {
      const opened = this.ask({ about: "open", path }) as OpenedObject;
      return new BlockingSource(this, opened);
    });
  }

  list(path: string): Steps<readonly string[] | undefined> {
    return atOnce(() =>
      this.ask({ about: "list", path }) as readonly string[] | undefined
    );
  }

  stat(path: string): Steps<FileFacts | undefined> {
    return atOnce(() =>
      this.ask({ about: "stat", path }) as FileFacts | undefined
    );
  }

  /** Sends a request, and blocks until the response. Throws the error of the response, if any. */
  ask(question: FetchRequest): unknown {
    const answered = new Int32Array(new SharedArrayBuffer(4));
    this.#port.postMessage({ question, answered } satisfies PendingRequest);
    Atomics.wait(answered, 0, 0);
    const { message } = receiveMessageOnPort(this.#port as never)!;
    const answer = message as FetchResponse;
    if ("value" in answer) return answer.value;
    throw deserializeError(
      answer.error,
      FormatError,
      RemoteError,
      RecordfsError,
    );
  }
}

/** A remote object whose reads block the thread. */
export class BlockingSource implements ByteSource {
  readonly opened: OpenedObject;
  readonly #storage: BlockingStorage;
  #file: FileSource | undefined;

  constructor(storage: BlockingStorage, opened: OpenedObject) {
    this.#storage = storage;
    this.opened = opened;
  }

  get name(): string {
    return this.opened.name;
  }

  get size(): number {
    return this.opened.size;
  }

  get mtime(): number {
    return this.opened.mtime;
  }

  readAtSync(into: Uint8Array, offset: number): number {
    const length = Math.min(into.length, this.size - offset);
    if (length <= 0) return 0;
    if (this.#isThere(offset, length)) {
      this.#file ??= openBlockFile(this.opened.map!);
      return this.#file.readAtSync(into.subarray(0, length), offset);
    }
    const { object } = this.opened;
    const bytes = this.#storage.ask({ about: "read", object, offset, length });
    into.set(bytes as Uint8Array);
    return length;
  }

  // deno-lint-ignore require-await -- it has waited by then
  async readAt(into: Uint8Array, offset: number): Promise<number> {
    return this.readAtSync(into, offset);
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #isThere(offset: number, length: number): boolean {
    const known = this.opened.map?.known;
    if (known === undefined) return false;
    const last = blockOf(offset + length - 1);
    for (let block = blockOf(offset); block <= last; block++) {
      if (Atomics.load(known, block) < Known.Present) return false;
    }
    return true;
  }
}

function atOnce<T>(work: () => T): Steps<T> {
  return perform({ sync: work, async: () => Promise.resolve(work()) });
}
