import { FormatError } from "../../base/errors.ts";
import { open } from "../../open/open.ts";
import type { VirtualFs } from "../../tree/vfs/virtual_fs.ts";
import { arrayValue } from "../api/array_value.ts";
import type { ArraysValue } from "../api/value_messages.ts";
import { decodedArray } from "./decoded.ts";
import type { Coding } from "./shown_value.ts";

const MOST_ARRAYS = 64;
/** Maximum total bytes of an archive's arrays. */
const LARGEST_SUM = 256 << 20;
const SUFFIX = ".npy";
/** Signatures of NumPy's archives: a member's header, or the end record of an empty archive. */
const STARTS = ["PK\x03\x04", "PK\x05\x06"];

/** Returns the `api/value` response for an `.npz`, as JSON; see {@linkcode npzValue}. */
export async function shownArrays(
  bytes: Uint8Array<ArrayBuffer>,
  { most }: Extract<Coding, { kind: "arrays" }>,
): Promise<Uint8Array<ArrayBuffer>> {
  const value = await npzValue(bytes, most);
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * Reads the arrays of an `.npz`, an archive of `.npy` files. It is opened like any archive: overlapping members, and
 * sizes other than declared, are rejected.
 *
 * @param most Maximum numbers shown of each array.
 * @throws {TypeError} If it is not such an archive, or its directory is inconsistent.
 * @throws {RangeError} If its arrays have more than 256 MiB together.
 * @throws {FormatError} If an array is damaged.
 */
async function npzValue(
  bytes: Uint8Array<ArrayBuffer>,
  most: number,
): Promise<ArraysValue> {
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  if (!STARTS.includes(start)) {
    throw new TypeError("it is not an archive that NumPy writes");
  }
  using archive = await opened(bytes);
  const members: { readonly path: string; readonly name: string }[] = [];
  let sum = 0;
  for await (const { path, isFile } of archive.walk("")) {
    if (!isFile || !path.endsWith(SUFFIX)) continue;
    members.push({ path, name: path.slice(0, -SUFFIX.length) });
    sum += (await archive.stat(path)).size;
  }
  if (sum > LARGEST_SUM) {
    throw new RangeError(
      `its arrays have ${sum} bytes, and at most ${LARGEST_SUM} are decoded`,
    );
  }
  const arrays: ArraysValue["arrays"][number][] = [];
  for (const { path, name } of members.slice(0, MOST_ARRAYS)) {
    const content = await archive.read(path);
    arrays.push({ name, array: arrayValue(decodedArray(content), most) });
  }
  return { kind: "arrays", arrays, length: members.length };
}

async function opened(bytes: Uint8Array<ArrayBuffer>): Promise<VirtualFs> {
  try {
    return await open(bytes, { onWarning: () => {} }); // the value reports them
  } catch (cause) {
    const why = cause instanceof FormatError ? cause.message : String(cause);
    throw new TypeError(
      `it is not an archive that NumPy writes: ${
        why.replace(/^memory:? /, "")
      }`,
      { cause },
    );
  }
}
