import { LinkTree } from "../../../src/tree/trees/link_tree.ts";
import { samplesOf } from "../../../src/tree/samples_of.ts";
import { MODULE } from "../../tree/support/reversed_orders.ts";
import { type Folder, MemoryTree } from "./memory_tree.ts";

/** Creates a tree with links to its files, in reverse order. */
export async function linked(folder: Folder): Promise<LinkTree> {
  const inner = MemoryTree.of(folder);
  const samples = await samplesOf(inner);
  return await LinkTree.of(inner, {
    samples: samples.columns,
    indices: undefined,
    orders: { module: MODULE, data: samples.length },
    firstEpoch: 0,
    epochs: 1,
  });
}
