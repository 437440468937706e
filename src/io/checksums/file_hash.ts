import { PACKAGES } from "../../base/packages.ts";

export interface FileHash {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/** Python's names of hashes that `node:crypto` names differently. */
const CRYPTO_NAMES: Readonly<Record<string, string>> = {
  __proto__: null as never, // names may be any words
  blake2b: "blake2b512",
  blake2s: "blake2s256",
  "sha512_224": "sha512-224",
  "sha512_256": "sha512-256",
  "sha3_224": "sha3-224",
  "sha3_256": "sha3-256",
  "sha3_384": "sha3-384",
  "sha3_512": "sha3-512",
};

const XX = /^xx(h32|h64|h3_64|h128|h3_128)$/;

/** Returns a hash by its name in Python's `hashlib` or `xxhash`; `undefined` if it is unknown. */
export async function newFileHash(
  name: string,
): Promise<FileHash | undefined> {
  return XX.test(name) ? await newXxHash(name) : newSystemHash(name);
}

/** {@linkcode newFileHash} without waiting, for the hashes of `node:crypto`. */
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
