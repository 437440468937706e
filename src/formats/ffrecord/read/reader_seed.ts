/**
 * What another thread needs to open the files of a reader: it survives `postMessage`, without copying
 * tables.
 */
export interface ReaderSeed {
  /** The files, and their tables in shared memory. */
  readonly files: unknown;
  /** Whether samples are compared with their checksums. */
  readonly checkData: boolean;
}
