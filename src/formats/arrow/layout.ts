/**
 * Layout of Arrow IPC (arrow.apache.org/docs/format/Columnar.html, "Serialization and Interprocess Communication"): a
 * stream of messages, each a FlatBuffer and a body of buffers; or a file, which is `ARROW1`, the stream, a footer with
 * the offsets of its batches, the footer's length and `ARROW1` again.
 *
 * @module
 */

/** Magic number at the start (padded to 8 bytes) and at the end of a file. */
export const MAGIC = "ARROW1";
export const HEAD_SIZE = 8;
/** Length of the footer, and the magic number. */
export const TAIL_SIZE = 10;
/** Magic number of Feather version 1, which is another format. */
export const FEATHER_1 = "FEA1";
/** Word before the length of a message, since version 0.15 of the format. */
export const CONTINUATION = 0xffffffff;
/** Continuation word and length. */
export const PREFIX_SIZE = 8;

/** Maximum bytes of a message without its body, and of a footer. */
export const LARGEST_METADATA = 64 << 20;

/** Kinds of messages (`MessageHeader` of Message.fbs). */
export const Kind = { SCHEMA: 1, DICTIONARY: 2, ROWS: 3 } as const;

/** Suffix of a file. */
export const SUFFIX = /\.(?:arrows?|feather|ipc)$/i;

/** `x.arrow`, `x.arrows` (a stream), `x.feather`, `x.ipc`; but no hidden files, and none that `datasets` computed. */
const NAMED = /^(?!cache-[0-9a-f]{16})[^._]/;

/** List of the splits in a directory of `DatasetDict.save_to_disk` (`DATASETDICT_JSON_FILENAME` in `datasets/config.py`). */
export const SPLITS_FILE = "dataset_dict.json";

/** Whether a filename is that of an Arrow file. */
export function isNamedSo(name: string): boolean {
  return SUFFIX.test(name) && NAMED.test(name);
}
