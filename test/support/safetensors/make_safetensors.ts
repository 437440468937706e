/** Makes SafeTensors files, valid and invalid. */
import { Buffer } from "node:buffer";

/** A tensor, with its elements as bytes. */
export interface MadeTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** Returns a tensor of bytes. */
export function bytesTensor(
  name: string,
  bytes: readonly number[],
): MadeTensor {
  const shape = [bytes.length];
  return { name, dtype: "U8", shape, bytes: Uint8Array.from(bytes) };
}

/** Returns a file with any header text, and data. */
export function fileOf(header: string | Uint8Array, data: Uint8Array): Buffer {
  const text = Buffer.from(header as Uint8Array);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, data]);
}

/** Returns a file of tensors, stored back to back. */
export function tensorsFile(
  tensors: readonly MadeTensor[],
  metadata?: Readonly<Record<string, string>>,
): Buffer {
  let at = 0;
  const members: [string, unknown][] = tensors.map((tensor) => {
    const { name, dtype, shape, bytes } = tensor;
    const start = at;
    at += bytes.length;
    return [name, { dtype, shape, data_offsets: [start, at] }];
  });
  if (metadata !== undefined) members.unshift(["__metadata__", metadata]);
  const text = members
    .map(([name, facts]) => `${JSON.stringify(name)}:${JSON.stringify(facts)}`);
  return fileOf(
    `{${text.join(",")}}`,
    Buffer.concat(tensors.map(({ bytes }) => bytes)),
  );
}
