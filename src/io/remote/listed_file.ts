/** An entry of a directory on a server, as far as the server tells. */
export interface ListedFile {
  readonly name: string;
  readonly isDirectory: boolean;
  /** Bytes; `undefined` where it is not said, or not exactly. */
  readonly size?: number | undefined;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime?: number | undefined;
}

/** Whether a file or directory can have a name. */
export function isFileName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);
}
