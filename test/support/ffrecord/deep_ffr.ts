/** Writes packed folders with folders nested to any depth. */
import { Buffer } from "node:buffer";
import { ffrBytes } from "./make_ffr.ts";

/** Position of each folder's file: before or after the nested folder, or none. */
export type DeepFiles = "before" | "behind" | "none";

/** Content of each file. */
export const DEEP_CONTENT: Uint8Array = new TextEncoder().encode("content");

/**
 * Returns a `.ffr` file of `depth` nested folders `d`, each with a file `a` (before) or `z` (behind), in some 7 bytes
 * per folder.
 */
export function deepFfr(depth: number, files: DeepFiles): Uint8Array {
  const parts: Uint8Array[] = [
    Buffer.from("piouhjgbr\x80\x02", "latin1"),
    remembered(Buffer.from("ccollections\nOrderedDict\n"), 0),
  ];
  for (const [i, name] of ["d", "a", "z"].entries()) {
    const text = Buffer.from([
      0x58,
      name.length,
      0,
      0,
      0,
      ...Buffer.from(name),
    ]);
    parts.push(remembered(text, i + 1)); // BINUNICODE
  }
  const samples: Uint8Array[] = [];
  const file = (name: number) => {
    const item = Buffer.from([GET, name, 0x4a, 0, 0, 0, 0, SETITEM]); // BININT
    item.writeInt32LE(samples.push(DEEP_CONTENT) - 1, 3);
    parts.push(item);
  };
  parts.push(NEW_FOLDER);
  for (let i = 0; i < depth; i++) {
    if (files === "before") file(2);
    parts.push(Uint8Array.of(GET, 1), NEW_FOLDER);
  }
  for (let i = 0; i < depth; i++) {
    parts.push(Uint8Array.of(SETITEM));
    if (files === "behind") file(3);
  }
  parts.push(Buffer.from("."));
  return ffrBytes([...samples, Buffer.concat(parts)]);
}

// Opcodes of pickle: BINGET, SETITEM; BINGET of the class, EMPTY_TUPLE, REDUCE; BINPUT and POP.
const GET = 0x68;
const SETITEM = 0x73;
const NEW_FOLDER = Uint8Array.of(GET, 0, 0x29, 0x52);

function remembered(value: Uint8Array, as: number): Uint8Array {
  return Buffer.concat([value, Uint8Array.of(0x71, as, 0x30)]);
}
