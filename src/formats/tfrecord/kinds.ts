/** Kinds of TFRecord containers. */

/** Kind of records, as `info` shows it. */
export type RecordKind = "Examples" | "SequenceExamples" | "records";

/** Whether data are a kind of records. */
export function isRecordKind(data: unknown): data is RecordKind {
  return data === "Examples" || data === "SequenceExamples" ||
    data === "records";
}

const IN_SHARDS = " in shards";

/** Returns the kind of a container of several files. */
export function inShards(kind: string): string {
  return `${kind}${IN_SHARDS}`;
}

/** Whether a container's records are examples, whose features are known. */
export function areExamples(kind: string): boolean {
  return !kind.startsWith("records");
}
