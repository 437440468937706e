import * as path from "node:path";
import { DirectoryChain } from "../dirfd/directory_chain.ts";
import { openDirectory } from "../dirfd/open_directory.ts";

/**
 * Removes a directory and everything in it, without following symbolic links. Its depth may exceed the path length
 * limit and the number of descriptors, where `fs.rm` stops half-way.
 */
export function removeTree(directory: string): void {
  const parent = openDirectory(path.dirname(directory));
  const chain = new DirectoryChain(parent, "keep");
  try {
    /** Remaining entries of each entered directory. */
    const left: string[][] = [];
    const enter = (name: string) => left.push(chain.enter(name).list().names);
    enter(path.basename(directory));
    for (let names = left.at(-1); names; names = left.at(-1)) {
      const name = names.pop();
      if (name === undefined) leave(chain, left);
      else if (chain.last.stat(name, "keep")?.kind === "directory") enter(name);
      else chain.last.remove(name);
    }
  } finally {
    chain.close();
  }
}

function leave(chain: DirectoryChain, left: string[][]): void {
  left.pop();
  const name = chain.nameAt(chain.depth)!;
  chain.leaveTo(chain.depth - 1);
  chain.last.removeDirectory(name);
}
