import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { Storage } from "../../io/storage/storage.ts";
import type { LazySources } from "../tree.ts";

const MOST_CACHED = 1024;

/** Archive members that are sources of their own, made on demand. LRU cache. */
export class MemberSources implements LazySources {
  readonly path: string;
  readonly storage: Storage;
  readonly knownBytes = 0; // the archive's size is already known
  readonly #make: (index: number) => ByteSource | undefined;
  /** In order of use. */
  readonly #made = new Map<number, ByteSource>();

  constructor(
    { archive, storage }: {
      readonly archive: ByteSource;
      readonly storage: Storage;
    },
    make: (index: number) => ByteSource | undefined,
  ) {
    this.path = archive.name;
    this.storage = storage;
    this.#make = make;
  }

  at(index: number): ByteSource | undefined {
    let source = this.#made.get(index);
    if (source !== undefined) this.#made.delete(index); // move to the end
    else source = this.#make(index);
    if (source === undefined) return undefined;
    this.#made.set(index, source);
    if (this.#made.size > MOST_CACHED) {
      const [oldest] = this.#made.keys();
      this.#made.get(oldest!)!.close();
      this.#made.delete(oldest!);
    }
    return source;
  }

  /** Closes the sources; the caller closes the archive. */
  close(): void {
    for (const source of this.#made.values()) source.close();
    this.#made.clear();
  }
}
