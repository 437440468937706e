import { COUNTS_SIZE } from "../../../fuse/limits.ts";
import type { PrivateDirectory } from "../../io/dirfd/private_directory.ts";

/**
 * Files of a mount by name suffix: `json` is its record; `log` and `log.1` are its log and the part before; `stats`
 * and `dead` are the counts of a mount that was given up, and the reason; `command` is the command line for new
 * servers if it differs from the supervisor's initial one; `next` is a candidate for `command`, until its first
 * server has started; `hidden` is what only the owner may read.
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

/** Maximum size of each file that is read whole, in bytes. */
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

/** Files of one mount in a state directory. */
export class MountFiles {
  readonly #directory: PrivateDirectory;
  readonly id: string;

  constructor(directory: PrivateDirectory, id: string) {
    this.#directory = directory;
    this.id = id;
  }

  /** Working directory for the mount's processes, in which they reach the files even if the path is renamed. */
  get location(): string {
    return this.#directory.location;
  }

  path(kind: FileKind): string {
    return `${this.#directory.path}/${this.#name(kind)}`;
  }

  /** Returns `undefined` if the file does not exist. Throws if it is too large, or not a regular file of this user. */
  read(kind: keyof typeof LARGEST): Uint8Array<ArrayBuffer> | undefined {
    return this.#directory.read(this.#name(kind), LARGEST[kind]);
  }

  /** {@linkcode MountFiles.read} as text. */
  readText(kind: keyof typeof LARGEST): string | undefined {
    const bytes = this.read(kind);
    return bytes && decoder.decode(bytes);
  }

  readLogEnd(most: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#directory.readEnd(this.#name("log"), most);
  }

  get logSize(): number {
    return this.#directory.stat(this.#name("log"))?.size ?? 0;
  }

  /** Creates an empty file, which must not exist. */
  create(kind: FileKind): void {
    this.#directory.create(this.#name(kind));
  }

  /** Writes a file atomically. */
  write(kind: FileKind, content: Uint8Array | string): void {
    this.#directory.write(this.#name(kind), bytesOf(content));
  }

  /** Overwrites a file in place. Throws `Deno.errors.NotFound` if it does not exist. */
  overwrite(kind: FileKind, content: Uint8Array | string): void {
    if (this.#directory.overwrite(this.#name(kind), bytesOf(content))) return;
    throw new Deno.errors.NotFound(`${this.path(kind)} was removed`);
  }

  /** Renames a file, replacing the target. Returns whether it existed. */
  rename(from: FileKind, to: FileKind): boolean {
    return this.#directory.rename(this.#name(from), this.#name(to));
  }

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
