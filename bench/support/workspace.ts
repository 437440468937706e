import { statfs } from "node:fs/promises";

/** Margin for the file system beyond the data itself. */
const SPARE_BYTES = 64 * 1024 * 1024;

/**
 * Temporary folder that is removed with everything set up in it, also on Ctrl-C.
 */
export class Workspace implements AsyncDisposable {
  /** The folder. */
  readonly path: string;
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  #disposal: Promise<void> | undefined;

  private constructor(path: string) {
    this.path = path;
    this.defer(() => Deno.remove(path, { recursive: true }));
    Deno.addSignalListener("SIGINT", this.#interrupted);
    Deno.addSignalListener("SIGTERM", this.#interrupted);
  }

  /**
   * Makes the folder.
   *
   * @param parent Parent folder; by default the system's folder for temporary files.
   * @param bytes Bytes that will be written to it.
   * @throws {Error} If the disk has too little room.
   */
  static async create(
    parent: string | undefined,
    bytes: number,
  ): Promise<Workspace> {
    const path = await Deno.makeTempDir({
      prefix: "recordfs-bench-",
      ...(parent === undefined ? {} : { dir: parent }),
    });
    const workspace = new Workspace(path);
    const { bavail, bsize } = await statfs(path);
    if (bavail * bsize >= bytes + SPARE_BYTES) return workspace;
    await workspace[Symbol.asyncDispose]();
    throw new Error(
      `Cannot benchmark in ${path}: it needs ${megabytes(bytes)} MB of disk, ` +
        `${megabytes(bavail * bsize)} MB are free. Name a roomier --dir.`,
    );
  }

  /** Returns the path of a file in the folder. */
  file(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Registers `cleanup` to run at the end, in reverse order of registration. */
  defer(cleanup: () => Promise<unknown>): void {
    this.#cleanups.push(cleanup);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#disposal ??= this.#dispose();
  }

  async #dispose(): Promise<void> {
    const failures: unknown[] = [];
    while (this.#cleanups.length > 0) {
      await this.#cleanups.pop()!().catch((error) => failures.push(error));
    }
    Deno.removeSignalListener("SIGINT", this.#interrupted);
    Deno.removeSignalListener("SIGTERM", this.#interrupted);
    if (failures.length > 0) throw failures[0];
  }

  readonly #interrupted = () => {
    this[Symbol.asyncDispose]().finally(() => Deno.exit(130));
  };
}

function megabytes(bytes: number): string {
  return Math.ceil(bytes / 1e6).toLocaleString("en-US");
}
