/** Directory entry on a server, as far as the server reports it. */
export interface ListedFile {
  readonly name: string;
  readonly isDirectory: boolean;
  /** In bytes; `undefined` if unknown or not exact. */
  readonly size?: number | undefined;
  readonly mtime?: number | undefined;
}

export function isFileName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);
}
