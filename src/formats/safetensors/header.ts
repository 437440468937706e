import { FormatError } from "../../base/errors.ts";
import { messageOf } from "../../base/message_text.ts";
import { eachMember, jsonMembers } from "../../codecs/json/parts.ts";
import { decodeText } from "../../codecs/json/value.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { readPart } from "../../io/read/read_part.ts";
import type { ByteSource } from "../../io/storage/byte_source.ts";
import type { ArrayFile, NamedArray } from "../../tree/arrays/array_samples.ts";
import { sharedBytes, sharedUint32 } from "../../tree/shared_numbers.ts";
import {
  ELEMENT_TYPES,
  LARGEST_HEADER,
  LENGTH,
  METADATA,
  MOST_TENSORS,
} from "./layout.ts";

/** A file of tensors, in the order of their data. */
export interface TensorFile extends ArrayFile {
  readonly header: Uint8Array;
  /** Per tensor, where its member of the header's object starts and ends. */
  readonly members: Uint32Array;
}

/**
 * Reads and validates the header of a file: the data of its tensors must fill the rest of the file exactly.
 *
 * @param wanted Names of tensors that an index says are in it.
 * @throws {FormatError} If it is damaged, hostile, or has element types that are unknown.
 */
export function* readHeader(
  source: ByteSource,
  wanted: Iterable<string> = [],
): Steps<TensorFile> {
  const { name: path, size, mtime } = source;
  const bad = (code: FormatError["code"], why: string, cause?: unknown) => {
    const message = `Cannot read ${path}: ${why}: it is damaged, or not of ` +
      "SafeTensors. Download it again";
    return new FormatError(code, message, { path, cause });
  };
  if (size < LENGTH) throw bad("truncated-header", `it has ${size} bytes`);
  const head = yield* readPart(source, 0, LENGTH);
  const length = Number(new DataView(head.buffer).getBigUint64(0, true));
  const start = LENGTH + length;
  if (length > LARGEST_HEADER) {
    const most = `more than the limit of ${LARGEST_HEADER}`;
    throw bad("too-large", `its header has ${length} bytes, ${most}`);
  }
  if (start > size) {
    const why = `it has ${size} bytes, but its header ends at ${start}`;
    throw bad("truncated-header", why);
  }
  const header = yield* readPart(source, LENGTH, length);
  let metadata: string | undefined;
  /** Per tensor, by name: its member, and the range of its data. */
  const found = new Map<string, readonly [number, number, number, number]>();
  try {
    const text = decodeText(header);
    const isAscii = text.length === header.length;
    if (text[0] !== "{") throw new SyntaxError("it does not begin with {");
    eachMember(header, (name, { key, value, end }) => {
      if (name === METADATA ? metadata !== undefined : found.has(name)) {
        throw new SyntaxError(`it has '${name}' twice`);
      }
      if (name === METADATA) metadata = textsIn(header.subarray(value, end));
      else {
        const facts = isAscii
          ? text.slice(value, end)
          : decodeText(header.subarray(value, end));
        const tensor = tensorIn(header, name, JSON.parse(facts));
        const { offset, length } = tensor;
        found.set(name, [key, end, offset, offset + length]);
        if (found.size > MOST_TENSORS) {
          const why = `its header describes more than ${MOST_TENSORS} tensors`;
          throw bad("too-large", why);
        }
      }
    });
  } catch (cause) {
    if (cause instanceof FormatError) throw cause;
    const why = messageOf(cause);
    if (!(cause instanceof RangeError)) {
      throw bad("bad-structure", `its header is wrong: ${why}`, cause);
    }
    const message = `Cannot read ${path}: ${why}. Update recordfs`;
    throw new FormatError("unsupported", message, { path, cause });
  }
  const sorted = [...found].sort(([, a], [, b]) => a[2] - b[2] || a[3] - b[3]);
  let at = start;
  for (const [name, [, , offset, end]] of sorted) {
    const how = offset < at ? "overlap those before" : "follow a gap";
    if (offset !== at) throw bad("bad-offsets", `the data of '${name}' ${how}`);
    at = end;
  }
  if (at !== size) {
    const code = at > size ? "truncated-data" : "bad-structure";
    throw bad(code, `it has ${size} bytes, but its header describes ${at}`);
  }
  for (const name of wanted) {
    if (found.has(name)) continue;
    throw bad("bad-index", `it lacks '${name}', which the index places in it`);
  }
  const members = sharedUint32(sorted.flatMap(([, [key, end]]) => [key, end]));
  const count = sorted.length;
  return {
    path,
    size,
    mtime,
    count,
    metadata,
    header: sharedBytes(header),
    members,
  };
}

type Facts = Readonly<Record<string, unknown>> | null;

/** Returns a tensor of a file by its number. */
export function tensorOf(
  { header, members }: TensorFile,
  number: number,
): NamedArray {
  const member = header.slice(members[2 * number], members[2 * number + 1]);
  const [[name, facts]] = Object.entries(
    JSON.parse(`{${decodeText(member)}}`),
  ) as [[string, Facts]];
  return tensorIn(header, name, facts);
}

/** Validates what a header says of a tensor. Throws a `SyntaxError` if it is wrong, a `RangeError` if its type is unknown. */
function tensorIn(header: Uint8Array, name: string, facts: Facts): NamedArray {
  const { dtype: word, shape, data_offsets: range } = facts ?? {};
  const dtype = String(word);
  const type = ELEMENT_TYPES.get(dtype);
  if (type === undefined) {
    throw new RangeError(`'${name}' has the unknown type '${dtype}'`);
  }
  if (!areCounts(shape) || !areCounts(range) || range.length !== 2) {
    throw new SyntaxError(`'${name}' has no shape and data_offsets of numbers`);
  }
  const numpy = typeof type === "string" ? type : undefined;
  const bits = typeof type === "string" ? 8 * Number(type.slice(2)) : type;
  const [start, past] = range as [number, number];
  const length = past - start;
  const offset = LENGTH + header.length + start;
  const all = shape.reduce((product, length) => product * length, bits) / 8;
  if (all === length) {
    return { name, dtype, numpy, bits, shape, offset, length };
  }
  throw new SyntaxError(
    `'${name}' has ${length} bytes, but its shape takes ${all}`,
  );
}

function areCounts(value: unknown): value is number[] {
  return Array.isArray(value) &&
    value.every((count) => Number.isSafeInteger(count) && count >= 0);
}

/** Returns an object of texts as it is written. Throws a `SyntaxError` if it is none. */
function textsIn(json: Uint8Array): string {
  const texts = [...jsonMembers(json)?.values() ?? [""]];
  if (texts.every((text) => text.startsWith('"'))) return decodeText(json);
  throw new SyntaxError(`${METADATA} is not an object of texts`);
}
