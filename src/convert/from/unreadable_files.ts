import type { FormatError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { newExtent, type NodeId } from "../../tree/tree.ts";
import { readAhead } from "../../tree/vfs/read_ahead.ts";
import { contentPieces } from "../../tree/vfs/read_files.ts";
import type { VirtualFs, WalkOptions } from "../../tree/vfs/virtual_fs.ts";
import type { WalkEntry } from "../../tree/vfs/walk.ts";
import { isOfMember } from "./file_tree.ts";

/** Unreadable files of a container, which a conversion skips. */
export class UnreadableFiles {
  readonly #container: VirtualFs;
  readonly #onUnreadable: (error: FormatError) => void;
  readonly #nodes = new Set<NodeId>();
  readonly #directories = new Set<string>();

  /** @param onUnreadable Called once per file or directory with its error. */
  constructor(
    container: VirtualFs,
    onUnreadable: (error: FormatError) => void,
  ) {
    this.#container = container;
    this.#onUnreadable = onUnreadable;
  }

  get nodes(): ReadonlySet<NodeId> {
    return this.#nodes;
  }

  /** Walks the container without unreadable files, and without the rest of directories that cannot be listed. */
  async *walk(path: string, options?: WalkOptions): AsyncGenerator<WalkEntry> {
    const { tree } = this.#container;
    const extent = newExtent();
    const onDamage = (error: FormatError, path: string) => {
      if (!isOfMember(error)) throw error;
      if (this.#directories.has(path)) return;
      this.#directories.add(path);
      this.#onUnreadable(error);
    };
    const entries = this.#container.walk(path, { ...options, onDamage });
    for await (const entry of entries) {
      const { ino, isFile } = entry;
      const locate = () => tree.locate(ino, extent);
      const isShown = !isFile || !this.#nodes.has(ino) &&
          await this.#try(ino, () => runAsync(whenLoaded(locate)));
      if (isShown) yield entry;
    }
  }

  async findAll(signal: AbortSignal | undefined): Promise<void> {
    const container = this.#container;
    const walk = this.walk("", { signal });
    for await (const batch of readAhead(container, walk, { signal })) {
      const { entries, isLarge } = batch;
      const files = entries.filter(({ isFile }) => isFile);
      const isSound = !isLarge && await this.#isSound(batch.contents);
      if (isSound) continue;
      // One damaged file fails a whole batch, so read each file separately.
      for (const { ino, path } of files) {
        await this.#try(ino, async () => {
          const pieces = contentPieces(container, ino, path, signal);
          for await (const _ of pieces) signal?.throwIfAborted();
        });
      }
    }
  }

  async #isSound(contents: Promise<unknown>): Promise<boolean> {
    try {
      await contents;
      return true;
    } catch (error) {
      if (isOfMember(error)) return false;
      throw error;
    }
  }

  /** Whether a file can be read; records it as unreadable otherwise. */
  async #try(node: NodeId, read: () => Promise<unknown>): Promise<boolean> {
    try {
      await read();
      return true;
    } catch (error) {
      if (!isOfMember(error)) throw error;
      this.#nodes.add(node);
      this.#onUnreadable(error);
      return false;
    }
  }
}
