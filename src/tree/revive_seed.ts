import type { Tree, TreeSeed } from "./tree.ts";

/** Rebuilds a tree that another thread has shared, by the module that knows how. */
export async function reviveSeed({ module, data }: TreeSeed): Promise<Tree> {
  const { reviveTree }: {
    reviveTree(data: unknown): Tree | Promise<Tree>;
  } = await import(module);
  return await reviveTree(data);
}
