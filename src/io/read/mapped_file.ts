import { RecordfsError } from "../../errors.ts";
import type { ByteSource } from "../storage/byte_source.ts";
import { FileSource } from "../storage/file_source.ts";
import { MemoryMap } from "./memory_map.ts";

/** A file's memory map, made when it is first needed. */
export class MappedFile {
  readonly #source: FileSource;
  #map: MemoryMap | undefined;

  /**
   * @param source The file; it must not be closed before the last call.
   * @throws {RecordfsError} With code `unsupported` where it is not on a local disk.
   */
  constructor(source: ByteSource) {
    if (!(source instanceof FileSource)) {
      throw new RecordfsError(
        "unsupported",
        `Cannot map ${source.name} into memory: it is no local file; use read() instead`,
        { path: source.name },
      );
    }
    this.#source = source;
  }

  /**
   * The map, whose file may have been cut since it was made.
   *
   * @throws {RecordfsError} As {@linkcode MemoryMap} does.
   */
  map(): MemoryMap {
    this.#forgetGone();
    return this.#map ??= new MemoryMap(this.#source);
  }

  /**
   * All bytes of the file.
   *
   * @throws {FormatError} If it was cut meanwhile, so that touching them would kill the process.
   * @throws {RecordfsError} As {@linkcode MemoryMap} does.
   */
  bytes(): Uint8Array<ArrayBuffer> {
    const map = this.map();
    if (this.#source.size > 0) map.checkSize();
    return map.bytes;
  }

  /** Lets go of the map: it goes away with its last view. */
  close(): void {
    this.#forgetGone();
    this.#map = undefined;
  }

  /** A map whose bytes were transferred to another thread stays for good: they may be in use there. */
  #forgetGone(): void {
    if (this.#map?.isGone !== true) return;
    this.#map.keepForever();
    this.#map = undefined;
  }
}
