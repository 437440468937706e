import { inflateRawSync } from "node:zlib";
import { type NdArray, readNpy } from "../../codecs/numpy/mod.ts";
import { arrayValue } from "./array_value.ts";
import type { ArraysValue } from "./value_messages.ts";

/** Arrays that are shown, and bytes of one that is unpacked at most. */
const MOST_ARRAYS = 64;
const LARGEST = 64 << 20;

/** A member of a ZIP archive, by its central directory (APPNOTE 4.3.12). */
interface Member {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

/**
 * The arrays of an `.npz`, a ZIP archive of `.npy` files; those that are too large are left out.
 *
 * @throws {TypeError} If it is none.
 */
export function npzValue(bytes: Uint8Array, most: number): ArraysValue {
  const members = membersOf(bytes).filter(({ name }) => name.endsWith(".npy"));
  const arrays = members.filter(({ size }) => size <= LARGEST)
    .slice(0, MOST_ARRAYS)
    .map((member) => ({
      name: member.name.slice(0, -".npy".length),
      array: arrayValue(readMember(bytes, member), most),
    }));
  return { kind: "arrays", arrays, length: members.length };
}

function membersOf(bytes: Uint8Array): Member[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  return Array.from({ length: count }, () => {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50) {
      throw notZip();
    }
    const nameLength = view.getUint16(at + 28, true);
    const start = at + 46;
    const member = {
      name: new TextDecoder().decode(bytes.slice(start, start + nameLength)),
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    };
    at = start + nameLength + view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
    return member;
  });
}

/** The end of the central directory, behind which a comment may stand (APPNOTE 4.3.16). */
function endOf(view: DataView): number {
  const least = Math.max(view.byteLength - 22 - 0xffff, 0);
  for (let at = view.byteLength - 22; at >= least; at--) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  throw notZip();
}

function readMember(
  bytes: Uint8Array,
  { method, packed, size, at }: Member,
): NdArray {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + 30 > bytes.length) throw notZip();
  const start = at + 30 + view.getUint16(at + 26, true) +
    view.getUint16(at + 28, true);
  // NumPy writes sizes of 64 bits behind the name: the rest of the file is enough to read from.
  const content = packed === 0xffffffff
    ? bytes.slice(start)
    : bytes.slice(start, start + packed);
  if (method === 0) return readNpy(content);
  if (method !== 8) throw notZip();
  return readNpy(
    inflateRawSync(content, { maxOutputLength: Math.max(size, 1) }),
  );
}

function notZip(): TypeError {
  return new TypeError("it is no archive that NumPy writes");
}
