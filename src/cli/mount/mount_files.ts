import { COUNTS_SIZE } from "../../../fuse/limits.ts";
import type { PrivateDirectory } from "../../io/directories/private_directory.ts";

/**
 * Files of a mount, by the ending of their name: its record; its log, with the part before; the counts of one that was
 * given up, and why it was; the command line that the supervisor starts servers by, where that is not its first one,
 * and the one that is to become that, if its first server starts; and what of it only its owner may see.
 */
type FileKind =
  | "json"
  | "log"
  | "log.1"
  | "stats"
  | "dead"
  | "command"
  | "next"
  | "hidden";

/** Largest size of each file that is read whole, in bytes. */
const LARGEST: Readonly<
  Record<Exclude<FileKind, "log" | "log.1">, number>
> = {
  json: 1 << 24,
  stats: COUNTS_SIZE,
  dead: 1 << 16,
  command: 1 << 24,
  next: 1 << 24,
  hidden: 1 << 24,
};

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Files that a state directory has of one mount. */
export class MountFiles {
  readonly #directory: PrivateDirectory;
  /** What their names begin with. */
  readonly id: string;

  constructor(directory: PrivateDirectory, id: string) {
    this.#directory = directory;
    this.id = id;
  }

  /** Path to start the mount's processes in: they reach its files from there, whatever is renamed meanwhile. */
  get location(): string {
    return this.#directory.location;
  }

  /** Path of a file, for messages. */
  path(kind: FileKind): string {
    return `${this.#directory.path}/${this.#name(kind)}`;
  }

  /**
   * Reads a file.
   *
   * @returns `undefined` where there is none.
   * @throws {NotPrivateError} If it is not a regular file of this user, or too large.
   */
  read(kind: keyof typeof LARGEST): Uint8Array<ArrayBuffer> | undefined {
    return this.#directory.read(this.#name(kind), LARGEST[kind]);
  }

  /** {@linkcode MountFiles.read} of a text. */
  readText(kind: keyof typeof LARGEST): string | undefined {
    const bytes = this.read(kind);
    return bytes && decoder.decode(bytes);
  }

  /** Reads the end of the log. */
  readLogEnd(most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#directory.readEnd(this.#name("log"), most);
  }

  /** Size of the log, in bytes. */
  get logSize(): number {
    return this.#directory.stat(this.#name("log"))?.size ?? 0;
  }

  /** Makes an empty file; there must be none. */
  create(kind: FileKind): void {
    this.#directory.create(this.#name(kind));
  }

  /** Writes a file, all at once. */
  write(kind: FileKind, content: Uint8Array | string): void {
    this.#directory.write(this.#name(kind), bytesOf(content));
  }

  /**
   * Writes a file that is there in its place.
   *
   * @throws {Deno.errors.NotFound} If it is not.
   */
  overwrite(kind: FileKind, content: Uint8Array | string): void {
    if (this.#directory.overwrite(this.#name(kind), bytesOf(content))) return;
    throw new Deno.errors.NotFound(`${this.path(kind)} was removed`);
  }

  /**
   * Puts one file in the place of another.
   *
   * @returns Whether it was there.
   */
  rename(from: FileKind, to: FileKind): boolean {
    return this.#directory.rename(this.#name(from), this.#name(to));
  }

  /** Removes files that are there. */
  remove(...kinds: readonly FileKind[]): void {
    for (const kind of kinds) this.#directory.remove(this.#name(kind));
  }

  #name(kind: FileKind): string {
    return `${this.id}.${kind}`;
  }
}

function bytesOf(content: Uint8Array | string): Uint8Array {
  return typeof content === "string" ? encoder.encode(content) : content;
}
