import type { OpenedSamples, SampleValues } from "../../mod.ts";

/** Reads the contents of samples that have no fields. */
export async function contentsOf(
  samples: OpenedSamples,
  indices: Iterable<number>,
): Promise<Uint8Array[]> {
  const read = await samples.read(indices);
  return read.map(({ content }) => content as Uint8Array);
}

/** `process` of a dataset that reduces samples to their contents. Loader threads import it. */
export function processContents(
  samples: readonly SampleValues[],
): Uint8Array[] {
  return samples.map(({ content }) => content as Uint8Array);
}
