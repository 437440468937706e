/** Golden cases whose `expect.json` lists the samples, field by field. */
import assert from "node:assert/strict";
import { openSamples } from "../../mod.ts";
import { sha256 } from "./golden.ts";

/** Size and hash of a field's bytes. */
interface ExpectedBytes {
  readonly size: number;
  readonly sha256: string;
}

/** Fields of a sample: bytes, floats, and integers as text. */
export type ExpectedSampleFields = Readonly<
  Record<string, ExpectedBytes | number | readonly number[] | string>
>;

/** `expect.json` of one case. */
export interface SamplesCase {
  readonly name: string;
  /** Path of the file, or of the directory of shards. */
  readonly path: string;
  readonly content: { readonly samples: readonly ExpectedSampleFields[] };
}

/** Compares every field of every sample, stored and decoded. */
export async function assertSamples(
  path: string,
  { samples: expected }: SamplesCase["content"],
  format?: string,
): Promise<void> {
  const quiet = { format, onWarning() {} };
  using samples = await openSamples(path, quiet);
  assert.equal(samples.length, expected.length);
  const indices = [...expected.keys()].reverse();
  const stored = await samples.read(indices);
  for (const [i, index] of indices.entries()) {
    const wanted = expected[index]!;
    assert.deepEqual(Object.keys(stored[i]!), Object.keys(wanted));
    const values = Object.keys(wanted).filter((name) => !isBytes(wanted[name]));
    const decoded = values.length === 0
      ? {}
      : await samples.get(index, { fields: values });
    for (const [name, value] of Object.entries(wanted)) {
      if (isBytes(value)) {
        const bytes = stored[i]![name] as Uint8Array;
        const { length: size } = bytes;
        assert.deepEqual({ size, sha256: sha256(bytes) }, value);
      } else assert.deepEqual(plain(decoded[name], value), value, name);
    }
  }
}

function isBytes(value: unknown): value is ExpectedBytes {
  return typeof value === "object" && value !== null && "sha256" in value;
}

/** Converts a decoded value to the form of `expect.json`. */
function plain(value: unknown, wanted: unknown): unknown {
  if (value instanceof Float32Array) return [...value];
  return typeof wanted === "string" ? String(value) : value;
}
