/**
 * Types and functions to implement a custom container format, which `registerFormat` of `@recordfs/recordfs` registers.
 * Its containers are then used like those of other formats.
 *
 * @experimental
 * @module
 */
export type { Format, FormatDescriptor } from "../formats/format.ts";
export type { Container, Probe } from "../tree/format.ts";
export { listedTree } from "../tree/listed_tree.ts";
export { readPart } from "../io/read/read_part.ts";
export type {
  PortableSamples,
  Samples,
  SamplesHandle,
} from "../tree/samples/samples.ts";
export type { ShardTable } from "../tree/samples/shard_table.ts";
export type {
  Extent,
  NodeId,
  NodeStat,
  Tree,
  TreeHandle,
} from "../tree/tree.ts";
