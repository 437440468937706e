import { crc32 } from "node:zlib";
import { fromFileUrl } from "../paths.ts";

/** Path of the format's module. */
export const TOY_FORMAT = fromFileUrl(
  new URL("toy_format.ts", import.meta.url),
);

/** A file with its label. */
export interface ToyFile {
  readonly name: string;
  readonly label: string;
  readonly bytes: Uint8Array;
}

/** Returns a toy container. */
export function toyBytes(files: readonly ToyFile[]): Uint8Array<ArrayBuffer> {
  const rows = files.map(({ name, label, bytes }) =>
    [name, label, bytes.length, crc32(bytes)] as const
  );
  const index = new TextEncoder().encode(JSON.stringify(rows));
  const head = `TOY1 ${String(index.length).padStart(8, "0")}\n`;
  const parts = [new TextEncoder().encode(head), index];
  const all = [...parts, ...files.map(({ bytes }) => bytes)];
  return new Uint8Array(all.flatMap((part) => [...part]));
}
