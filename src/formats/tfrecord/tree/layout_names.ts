import { FormatError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { DECODED, optionText } from "../../../base/named_option.ts";
import { escapedName } from "../../../tree/names/escaped_name.ts";
import type { NamedNode } from "../../../tree/records/record_layout.ts";

const LONGEST = 255;

/** Whether a name can be part of a path unchanged. */
function isPlain(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("\0");
}

/** Assigns keys with slashes to directories. */
export class NodeNames<Content> {
  /** All nodes, beginning with the record's own directory. */
  readonly nodes: NamedNode<Content>[] = [{
    name: new Uint8Array(0),
    parent: 0,
    children: new Map(),
    content: undefined,
  }];
  readonly #path: string;
  readonly #record: number;

  constructor(path: string, record: number) {
    this.#path = path;
    this.#record = record;
  }

  /** Returns a directory in another one; creates it if missing. */
  directory(parent: number, name: string): number {
    return this.nodes[parent]!.children!.get(name) ??
      this.#add(parent, name, new Map(), undefined);
  }

  /**
   * Adds a file. Slashes of its key separate directories, unless another file is in the way or a part is not a valid
   * name: then the whole key is one name. Returns whether it was added: its name may be taken.
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

  /** Returns the node of a key whose slashes separate directories; 0 if there is none. */
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

  /** Returns the directory of a path, created as needed, and the last part; -1 if a file is in the way. */
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
        `Cannot show record ${sample} of ${path} decoded: the name of its ` +
          `feature '${name}' has ${bytes.length} bytes, more than the limit ` +
          `of ${LONGEST}. Read it without ${optionText(DECODED)}`,
        { path, sample, namedOptions: [DECODED] },
      );
    }
    const node = this.nodes.length;
    this.nodes[parent]!.children!.set(name, node);
    this.nodes.push({ name: bytes, parent, children, content });
    return node;
  }
}
