/** Makes TFRecord files and messages, valid and invalid. */
import { Buffer } from "node:buffer";
import { crc32c } from "@node-rs/crc32";

/** Returns the masked CRC-32C of bytes, as files store it. */
export function maskedSum(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return ((crc >>> 15 | crc << 17) + 0xa282ead8) >>> 0;
}

/** Returns a record with its length and checksums. */
export function framed(
  data: Uint8Array | string,
  length = BigInt(bytesOf(data).length),
): Buffer {
  const bytes = bytesOf(data);
  const frame = Buffer.alloc(16 + bytes.length);
  frame.writeBigUInt64LE(length, 0);
  frame.writeUInt32LE(maskedSum(frame.subarray(0, 8)), 8);
  frame.set(bytes, 12);
  frame.writeUInt32LE(maskedSum(bytes), 12 + bytes.length);
  return frame;
}

/** Returns a file of records. */
export function fileOf(records: readonly (Uint8Array | string)[]): Buffer {
  return Buffer.concat(records.map((record) => framed(record)));
}

/** Returns a length-delimited field of a message, by its number. */
export function field(number: number, ...parts: Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts);
  return Buffer.concat([
    varint(number << 3 | 2),
    varint(payload.length),
    payload,
  ]);
}

/** Encodes an integer of a message. */
export function varint(number: number): Buffer {
  const bytes: number[] = [];
  for (; number >= 0x80; number = Math.floor(number / 128)) {
    bytes.push(number % 128 | 0x80);
  }
  return Buffer.from([...bytes, number]);
}

/** Returns an `Example` of bytes features. */
export function exampleOf(
  features: Readonly<Record<string, readonly (Uint8Array | string)[]>>,
): Buffer {
  const entries = Object.entries(features).map(([key, values]) => {
    const list = field(1, ...values.map((value) => field(1, bytesOf(value))));
    return field(1, field(1, Buffer.from(key)), field(2, list));
  });
  return field(1, ...entries);
}

function bytesOf(data: Uint8Array | string): Uint8Array {
  return typeof data === "string" ? Buffer.from(data) : data;
}
