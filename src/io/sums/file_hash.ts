import { PACKAGES } from "../../base/packages.ts";

/** Takes the hash of bytes that come piece by piece. */
export interface FileHash {
  update(bytes: Uint8Array): void;
  /** The hash of all of them, in hex. */
  digest(): string;
}

/** By Python's names, those that the system's library calls otherwise. */
const CRYPTO_NAMES: Readonly<Record<string, string>> = {
  __proto__: null as never, // names are any words
  blake2b: "blake2b512",
  blake2s: "blake2s256",
  "sha512_224": "sha512-224",
  "sha512_256": "sha512-256",
  "sha3_224": "sha3-224",
  "sha3_256": "sha3-256",
  "sha3_384": "sha3-384",
  "sha3_512": "sha3-512",
};

/** Of the package `xxhash` of Python. */
const XX = /^xx(h32|h64|h3_64|h128|h3_128)$/;

/**
 * A hash by the name that Python's `hashlib` or `xxhash` gives it.
 *
 * @returns `undefined` if it is none that is known here.
 */
export async function newFileHash(
  name: string,
): Promise<FileHash | undefined> {
  return XX.test(name) ? await newXxHash(name) : newSystemHash(name);
}

/** {@linkcode newFileHash} of those that the system's library has, which is not waited for. */
export function newSystemHash(name: string): FileHash | undefined {
  const { createHash, getHashes } = process.getBuiltinModule("node:crypto");
  const known = CRYPTO_NAMES[name] ?? name;
  if (!getHashes().includes(known)) return undefined;
  const hash = createHash(known);
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.digest("hex"),
  };
}

async function newXxHash(name: string): Promise<FileHash> {
  const wasm: typeof import("hash-wasm") = await import(PACKAGES.hashWasm);
  const hash =
    await (name === "xxh32"
      ? wasm.createXXHash32()
      : name === "xxh64"
      ? wasm.createXXHash64()
      : name === "xxh3_64"
      ? wasm.createXXHash3()
      : wasm.createXXHash128());
  hash.init();
  return {
    update: (bytes) => void hash.update(bytes),
    digest: () => hash.digest("hex"),
  };
}
