import type { VirtualFs } from "./virtual_fs.ts";

/** A file of an opened container, which is a container itself. {@linkcode VirtualFs.file} returns it. */
export class ContainedFile {
  /** The opened container. It must stay open as long as what is in the file is read. */
  readonly container: VirtualFs;
  /** Path of the file in the container. */
  readonly path: string;

  /** @ignore Use {@linkcode VirtualFs.file}. */
  constructor(container: VirtualFs, path: string) {
    this.container = container;
    this.path = path;
  }
}
