/** Kinds of TFRecord containers. */

/** What records are, as `info` has it. */
export type RecordKind = "Examples" | "SequenceExamples" | "records";

const IN_SHARDS = " in shards";

/** What the records of several files are. */
export function inShards(kind: string): string {
  return `${kind}${IN_SHARDS}`;
}

/** Whether a container's records are examples, whose features are known. */
export function areExamples(kind: string): boolean {
  return !kind.startsWith("records");
}
