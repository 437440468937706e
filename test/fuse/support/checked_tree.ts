/** A tree in memory of files with checksums. */
import { crc32 } from "node:zlib";
import type { Extent, NodeId, Tree } from "../../../src/tree/tree.ts";
import { MemoryTree } from "./memory_tree.ts";

/** Large enough to be checked in three pieces. */
const large = "0123456789".repeat(300_000);

/** Creates files with the right checksums, except for those named damaged. */
export function checkedTree(): Tree {
  const texts: Record<string, string> = {
    small: "small file",
    damaged: "damaged file",
    large,
    damagedLarge: `${large}!`,
  };
  const tree = MemoryTree.of(texts);
  const checksums = Object.entries(texts).map(([name, text]) =>
    name.startsWith("damaged") ? 0x1234 : crc32(new TextEncoder().encode(text))
  );
  const locate = tree.locate.bind(tree);
  return Object.assign(tree, {
    sampleOf: (node: NodeId) => node - 2,
    locate(node: NodeId, into: Extent) {
      const found = locate(node, into);
      const checksum = checksums[node - 2];
      into.checksumKind = checksum === undefined ? undefined : "crc32";
      into.checksum = checksum ?? 0;
      return found;
    },
  });
}
