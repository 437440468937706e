/** Writes and reads directory trees whose names may have any bytes. */
import * as fs from "node:fs";
import type { Directory } from "../../src/io/dirfd/directory.ts";
import { openDirectory } from "../../src/io/dirfd/open_directory.ts";
import { decodeName, encodeName } from "../../src/base/names.ts";

/** A folder. Keys are the bytes of names, in hex. */
export interface ExactFolder {
  readonly [hexName: string]: Uint8Array<ArrayBuffer> | ExactFolder;
}

/** Entries of a folder. Keys are paths in hex, joined by 2f; `null` stands for a folder. */
export type Contents = Map<string, Uint8Array | null>;

/** Encodes a path in hex. */
export function hexPath(path: string): string {
  return encodeName(path).toHex();
}

/** Returns the entries of a folder, in no particular order. */
export function contentsOf(folder: ExactFolder, prefix = ""): Contents {
  const contents: Contents = new Map();
  for (const [name, entry] of Object.entries(folder)) {
    const path = prefix + name;
    if (entry instanceof Uint8Array) contents.set(path, entry);
    else {
      contents.set(path, null);
      for (const pair of contentsOf(entry, `${path}2f`)) contents.set(...pair);
    }
  }
  return contents;
}

/** Writes a folder to a new directory. */
export function writeExactTree(path: string, folder: ExactFolder): void {
  fs.mkdirSync(path);
  const write = (directory: Directory, folder: ExactFolder) => {
    for (const [hex, entry] of Object.entries(folder)) {
      const name = decodeName(Uint8Array.fromHex(hex));
      if (entry instanceof Uint8Array) {
        const file = directory.createFile(name);
        file.write(entry);
        file.close();
      } else {
        directory.makeDirectory(name);
        write(directory.open(name, "keep"), entry);
      }
    }
    directory.close();
  };
  write(openDirectory(path), folder);
}

/** Reads a directory tree. */
export function readExactTree(path: string): Contents {
  const contents: Contents = new Map();
  const read = (directory: Directory, prefix: string) => {
    for (const name of directory.list().names) {
      const stat = directory.stat(name, "keep")!;
      const path = prefix + hexPath(name);
      if (stat.kind === "directory") {
        contents.set(path, null);
        read(directory.open(name, "keep"), `${path}2f`);
      } else {
        const bytes = new Uint8Array(stat.size);
        const file = directory.openFile(name);
        for (let done = 0; done < bytes.length;) {
          done += file.read(bytes.subarray(done));
        }
        file.close();
        contents.set(path, bytes);
      }
    }
    directory.close();
  };
  read(openDirectory(path), "");
  return contents;
}
