/** Directory entry on a server, as far as the server reports it. */
export interface ListedFile {
  readonly name: string;
  readonly isDirectory: boolean;
  /** In bytes; `undefined` if unknown or not exact. */
  readonly size?: number | undefined;
  /** Last modification, in milliseconds since 1970. */
  readonly mtime?: number | undefined;
}

/** Whether a name is valid for a file or directory. */
export function isFileName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);
}
