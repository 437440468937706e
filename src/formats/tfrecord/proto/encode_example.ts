import { ByteOutput } from "../../../codecs/byte_output.ts";
import { BYTES } from "./wire.ts";

/** A feature: its name, and its values of one of three kinds. */
export type Feature =
  & { readonly name: string }
  & (
    | { readonly kind: "bytes"; readonly values: readonly Uint8Array[] }
    | { readonly kind: "float"; readonly values: readonly number[] }
    | { readonly kind: "int64"; readonly values: readonly bigint[] }
  );

/** Field numbers of the lists in a `Feature` (`feature.proto` of TensorFlow). */
const LISTS = { bytes: 1, float: 2, int64: 3 } as const;
const UTF8 = new TextEncoder();

/** Tag of field 1, length-delimited, which is the only field of most of these messages. */
const FIRST = 1 << 3 | BYTES;
/** Tag of field 2: the value of a map entry. */
const SECOND = 2 << 3 | BYTES;

class MessageOutput extends ByteOutput {
  varint(value: number | bigint): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) this.op(Number(rest & 0x7fn) | 0x80);
    this.op(Number(rest));
  }

  float(value: number): void {
    const at = this.grow(4);
    this.view.setFloat32(at, value, true);
  }

  /** Writes a field of bytes, or of a message. */
  field(tag: number, bytes: Uint8Array): void {
    this.op(tag);
    this.varint(bytes.length);
    this.raw(bytes);
  }
}

/** Encodes a TensorFlow `Example`, with features in the given order, as `SerializeToString` does. */
export function encodeExample(
  features: readonly Feature[],
): Uint8Array<ArrayBuffer> {
  const output = new MessageOutput();
  for (const feature of features) {
    const entry = new MessageOutput();
    entry.field(FIRST, UTF8.encode(feature.name));
    entry.field(SECOND, encodeFeature(feature));
    output.field(FIRST, entry.written);
  }
  const example = new MessageOutput();
  example.field(FIRST, output.written);
  return example.take();
}

function encodeFeature(feature: Feature): Uint8Array {
  const list = new MessageOutput();
  if (feature.kind === "bytes") {
    for (const value of feature.values) list.field(FIRST, value);
  } else if (feature.values.length > 0) {
    const packed = new MessageOutput();
    if (feature.kind === "float") {
      feature.values.forEach((n) => packed.float(n));
    } else feature.values.forEach((n) => packed.varint(n));
    list.field(FIRST, packed.written);
  }
  const output = new MessageOutput();
  output.field(LISTS[feature.kind] << 3 | BYTES, list.written);
  return output.written;
}
