/**
 * Types and functions to implement a custom container format, which `registerFormat` of `@recordfs/recordfs` registers.
 * Its containers are then used like those of other formats.
 *
 * @experimental
 * @module
 */
export { formatNames } from "../formats/registry.ts";
export type * from "../formats/format.ts";
export type {
  Container,
  CountedSamples,
  Probe,
  SampleUnit,
  ServedContainer,
} from "../tree/format.ts";
export { type ListedFile, listedTree } from "../tree/listed_tree.ts";
export { readPart } from "../io/read/read_part.ts";
export type {
  PortableSamples,
  ReopenSamples,
  Samples,
  SamplesHandle,
} from "../tree/samples/samples.ts";
export type { LostShard } from "../tree/samples/open_shards.ts";
export type { Shard, ShardTable } from "../tree/samples/shard_table.ts";
export type {
  EntryVisitor,
  Extent,
  LazySources,
  NodeId,
  NodeStat,
  SampleNodes,
  SampleRun,
  SeveralSources,
  Tree,
  TreeHandle,
} from "../tree/tree.ts";
export type { SourceList } from "../io/storage/byte_source.ts";
export type { ChecksumKind } from "../io/sums/checksum.ts";
