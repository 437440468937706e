import { FormatError, RecordfsError } from "../../base/errors.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import type { ValueKind, ValueType } from "../../codecs/values/value_type.ts";
import type { NodeView } from "../../tree/node_view.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import { newExtent, type NodeId } from "../../tree/tree.ts";
import { encodingOf } from "../decode/text_encoding.ts";
import { typeOfBytes, typeOfName } from "../files/content_type.ts";
import type { Served } from "../served.ts";
import type { Kind } from "./messages.ts";

/** Kinds by filename extension, for those without a MIME type. */
const BY_SUFFIX: Readonly<Record<string, Kind>> = {
  __proto__: null as never,
  npy: "array",
  npz: "array",
  pkl: "pickle",
  pickle: "pickle",
  msgpack: "msgpack",
};

const OF_VALUES: Readonly<Record<ValueKind, Kind>> = {
  array: "array",
  bytes: "binary",
  image: "image",
  number: "json",
  text: "text",
  tree: "msgpack",
  video: "video",
};

/** Bytes at the start of a file used for kind detection. */
const HEAD = 256;
/** Minimum bytes of a file without an extension to be detected as text in an encoding other than UTF-8. */
const LEAST_OF_TEXT = 32;

/** Whether an error means that a container is damaged, or part of it too large to parse. */
export function isOfContainer(error: unknown): error is RecordfsError {
  return error instanceof FormatError ||
    error instanceof RecordfsError && error.code === "too-large";
}

/** Whether an error means that a value cannot be decoded: invalid JSON, not an array, too large. */
export function isOfValue(error: unknown): error is Error {
  return error instanceof RecordfsError || error instanceof TypeError ||
    error instanceof RangeError || error instanceof SyntaxError;
}

/** Returns the format's view of a node; `undefined` if the node is damaged. */
export function* viewOf(
  { tree }: Served,
  node: NodeId,
): Steps<NodeView | undefined> {
  try {
    return yield* whenLoaded(() => tree.view?.(node));
  } catch (error) {
    if (isOfContainer(error)) return undefined; // reading the node reports the error
    throw error;
  }
}

/** Whether an empty file represents a null value. */
export function* isNullValue(
  view: NodeView | undefined,
  size: number | null,
): Steps<boolean> {
  if (size !== 0 || view?.kind !== "value") return false;
  return yield* whenLoaded(() => view.isNull?.() ?? false);
}

/** Determines a node's kind from its format, its name, or its first bytes if these are cached. */
export function* kindOf(
  served: Served,
  node: NodeId,
  name: string,
  isDirectory: boolean,
  view: NodeView | undefined,
): Steps<Kind> {
  if (view?.kind === "clip" || view?.kind === "datapoint") return view.kind;
  if (isDirectory) return "directory";
  if (view?.kind === "value" && view.type.kind !== "bytes") {
    const { kind, decoding } = view.type;
    const isTold = decoding === "json" || decoding === "pickle";
    return kind === "tree" && isTold ? decoding : OF_VALUES[kind];
  }
  return kindOfName(name) ?? kindOfBytes(yield* headAtHand(served, node));
}

export function isDecoded({ kind }: ValueType): boolean {
  return kind === "array" || kind === "number" || kind === "tree";
}

function kindOfName(name: string): Kind | undefined {
  const suffix = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const type = typeOfName(name);
  return BY_SUFFIX[suffix] ??
    (type === undefined ? undefined : kindOfType(type));
}

function kindOfType(type: string): Kind {
  const [kind] = type.split("/", 1);
  if (type === "image/svg+xml") return "svg"; // never shown among others: drawing it may be slow
  if (kind === "image" || kind === "video" || kind === "audio") return kind;
  switch (type) {
    case "text/csv":
    case "text/tab-separated-values":
      return "csv";
    case "application/json":
      return "json";
    case "application/x-ndjson":
    case "application/xml":
      return "text";
    case "text/html":
    case "application/xhtml+xml":
      return "html";
    case "application/pdf":
      return "pdf";
    case "application/vnd.msgpack":
      return "msgpack";
    default:
      return kind === "text" ? "text" : "binary";
  }
}

/** Detects the kind of a content whose name does not tell it. */
export function kindOfBytes(head: Uint8Array): Kind {
  if (head.length === 0) return "binary";
  const [first, second] = head;
  if (first === 0x93 && head[1] === 0x4e && head[2] === 0x55) return "array"; // \x93NUMPY
  const type = typeOfBytes(head);
  if (type === "text/plain") {
    // If it only begins like JSON, the viewer falls back to text.
    return /^[{[]/.test(String.fromCharCode(first!)) ? "json" : "text";
  }
  if (type !== "application/octet-stream") return kindOfType(type);
  // With few bytes, too many files would be taken for Windows-1252.
  if (head.length >= LEAST_OF_TEXT && encodingOf(head) !== undefined) {
    return "text";
  }
  return first === 0x80 && second! >= 2 && second! <= 5 ? "pickle" : "binary";
}

/** Returns the first bytes of a file, if reading them needs no waiting. */
function* headAtHand({ tree }: Served, node: NodeId): Steps<Uint8Array> {
  const extent = newExtent();
  try {
    if (!(yield* whenLoaded(() => tree.locate(node, extent)))) {
      return new Uint8Array();
    }
  } catch (error) {
    if (error instanceof FormatError) return new Uint8Array();
    throw error;
  }
  const { bytes, source, offset, length } = extent;
  const size = Math.min(HEAD, length);
  if (bytes !== undefined) return bytes.slice(offset, offset + size);
  const into = new Uint8Array(size);
  const got = tree.sources.at(source)!.readCached?.(into, offset) ?? 0;
  return into.subarray(0, got);
}
