import type { OpenedSamples, SampleValues } from "../../mod.ts";

/** Reads the contents of samples that are bytes without fields. */
export async function contentsOf(
  samples: OpenedSamples,
  indices: Iterable<number>,
): Promise<Uint8Array[]> {
  const read = await samples.read(indices);
  return read.map(({ content }) => content as Uint8Array);
}

/** Has a dataset of such samples be one of their contents; threads of a loader import it. */
export function processContents(
  samples: readonly SampleValues[],
): Uint8Array[] {
  return samples.map(({ content }) => content as Uint8Array);
}
