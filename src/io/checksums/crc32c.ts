import { RecordfsError } from "../../base/errors.ts";
import { PACKAGES } from "../../base/packages.ts";
import { perform, type Steps } from "../concurrency/steps.ts";

type Crc32c = (bytes: Uint8Array, before: number) => number;

/** The polynomial, bit-reversed (RFC 3720, section 12.1). */
export const CRC32C_POLYNOMIAL = 0x82f63b78;

const LARGEST = 1 << 30;

/** Permissions that loading the native package needs. */
const NATIVE = [
  { name: "ffi" },
  { name: "read" },
  { name: "env" },
  { name: "sys" },
] as const;

let loaded: Crc32c | undefined;
let loading: Promise<void> | undefined;

/**
 * Returns the CRC-32C of bytes of any length, continuing from that of the bytes before. Throws `must-wait` if
 * {@linkcode loadCrc32c} has not ended before.
 */
export function crc32cOf(bytes: Uint8Array, before = 0): number {
  const crc32c = loaded ?? notLoaded();
  if (bytes.byteLength <= LARGEST) return crc32c(bytes, before);
  let crc = before;
  for (let done = 0; done < bytes.byteLength; done += LARGEST) {
    crc = crc32c(bytes.subarray(done, done + LARGEST), crc);
  }
  return crc;
}

/**
 * Loads a CRC-32C package: a native one if the permissions are granted (it never prompts), otherwise one in
 * WebAssembly, which is six times slower.
 */
export function loadCrc32c(): Promise<void> {
  return loading ??= load().catch((error) => {
    loading = undefined; // the next attempt may succeed
    throw error;
  });
}

/** {@linkcode loadCrc32c} as steps. Without waiting, it must be loaded already. */
export function* crc32cLoaded(): Steps<void> {
  if (loaded !== undefined) return;
  yield* perform<void>({ sync: notLoaded, async: loadCrc32c });
}

async function load(): Promise<void> {
  const isAllowed = NATIVE.every((permission) =>
    Deno.permissions.querySync(permission).state === "granted"
  );
  if (isAllowed) {
    try {
      loaded = await loadNative();
      return;
    } catch {
      // No native package for this system.
    }
  }
  loaded = await loadWasm();
}

async function loadNative(): Promise<Crc32c> {
  const { crc32c }: typeof import("@node-rs/crc32") = await import(
    PACKAGES.nodeRsCrc32
  );
  return (bytes, before) => crc32c(bytes, before);
}

/** Loads the WebAssembly version, which needs no permissions. Exported for tests. */
export async function loadWasm(): Promise<Crc32c> {
  const { createCRC32 }: typeof import("hash-wasm") = await import(
    PACKAGES.hashWasm
  );
  const hasher = await createCRC32(CRC32C_POLYNOMIAL);
  // Four bytes that identify the build, then the checksum so far (version 4.12).
  const state = hasher.init().save();
  const words = new DataView(state.buffer);
  return (bytes, before) => {
    if (before === 0) hasher.init();
    else {
      words.setUint32(state.length - 4, before, true);
      hasher.load(state);
    }
    const [a, b, c, d] = hasher.update(bytes).digest("binary");
    return (a! << 24 | b! << 16 | c! << 8 | d!) >>> 0;
  };
}

function notLoaded(): never {
  throw new RecordfsError(
    "must-wait",
    "Cannot compute CRC-32C synchronously: its package is not loaded. Open the container once by the asynchronous " +
      "method",
  );
}
