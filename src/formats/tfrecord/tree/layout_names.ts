import { FormatError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";

/** Longest name of a file or directory, in bytes. */
const LONGEST = 255;

/** Names that may stand in a path as they are. */
function isPlain(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("\0");
}

/** A directory or file of a record, as it is shown. */
export interface NamedNode<Content> {
  readonly name: Uint8Array;
  /** Number of the directory that it is in; of the record's own 0, as itself. */
  readonly parent: number;
  /** Those in it by their names, where it is a directory. */
  readonly children: Map<string, number> | undefined;
  readonly content: Content | undefined;
}

/** Puts what has keys with slashes into directories. */
export class NodeNames<Content> {
  /** All, the record's own directory first. */
  readonly nodes: NamedNode<Content>[] = [{
    name: new Uint8Array(0),
    parent: 0,
    children: new Map(),
    content: undefined,
  }];
  readonly #path: string;
  readonly #record: number;

  /**
   * @param path The file, for messages.
   * @param record Number of the record in it.
   */
  constructor(path: string, record: number) {
    this.#path = path;
    this.#record = record;
  }

  /** Makes a directory in another one. */
  directory(parent: number, name: string): number {
    return this.nodes[parent]!.children!.get(name) ??
      this.#add(parent, name, new Map(), undefined);
  }

  /**
   * Places a file; the slashes of its key are directories, unless another file is in their way, or a part of it can be
   * no name: then all of the key is one name.
   *
   * @returns Whether it has a place: another may have its name.
   */
  file(directory: number, key: string, content: Content): boolean {
    const parts = key.split("/");
    if (parts.every(isPlain)) {
      const [parent, name] = this.#enter(directory, parts);
      if (parent >= 0 && !this.#has(parent, name)) {
        this.#add(parent, name, undefined, content);
        return true;
      }
    }
    const name = escapedName(key);
    if (this.#has(directory, name)) return false;
    this.#add(directory, name, undefined, content);
    return true;
  }

  /** The node of a key whose slashes are directories; 0 where there is none. */
  find(directory: number, key: string): number {
    let node: number | undefined = directory;
    for (const name of key.split("/")) {
      node = this.nodes[node]!.children?.get(name);
      if (node === undefined) return 0;
    }
    return node;
  }

  #has(directory: number, name: string): boolean {
    return this.nodes[directory]!.children!.has(name);
  }

  /** The directory of a path, made as far as it is not there; -1 where a file is in its way. */
  #enter(directory: number, parts: readonly string[]): [number, string] {
    let parent = directory;
    for (const name of parts.slice(0, -1)) {
      const there = this.nodes[parent]!.children!.get(name);
      if (there !== undefined && this.nodes[there]!.children === undefined) {
        return [-1, ""];
      }
      parent = there ?? this.#add(parent, name, new Map(), undefined);
    }
    return [parent, parts.at(-1)!];
  }

  #add(
    parent: number,
    name: string,
    children: Map<string, number> | undefined,
    content: Content | undefined,
  ): number {
    const bytes = encodeName(name);
    if (bytes.length > LONGEST) {
      const [path, sample] = [this.#path, this.#record];
      throw new FormatError(
        "unsafe-name",
        `${path}: the feature '${name}' of record ${sample} can't be a file: its name has ${bytes.length} bytes, and ` +
          `${LONGEST} is the most; read the record without --decoded`,
        { path, sample },
      );
    }
    const node = this.nodes.length;
    this.nodes[parent]!.children!.set(name, node);
    this.nodes.push({ name: bytes, parent, children, content });
    return node;
  }
}
