import { createHash } from "node:crypto";
import { runAsync } from "../../io/concurrency/steps.ts";
import { whenLoaded } from "../../tree/not_loaded.ts";
import type { SampleRuns } from "../../tree/sample_runs.ts";
import type { ContainerInfo } from "../../tree/format.ts";
import type { NodeId, Tree } from "../../tree/tree.ts";

/** Number of samples hashed at a time. They are looked up again if a part of the tree must be loaded first. */
const PIECE = 4096;

/** Maximum length of a name, in bytes. */
const LONGEST = 65_536;

/** A number with any suffix, as samples without a name of their own are called. */
const NUMBER = /^\d+(\.|$)/;

/**
 * Hashes what identifies the samples of a container: their names, the directories that contain them, and the number
 * of samples in each shard. The location of the container does not count, nor do names that are only numbers.
 *
 * @param samples Samples of `tree`.
 * @returns 128 bits of SHA-256, in hexadecimal.
 */
export async function hashOfNames(
  tree: Tree,
  samples: SampleRuns,
  { parts }: Pick<ContainerInfo, "parts">,
): Promise<string> {
  const hash = createHash("sha256");
  hash.update(JSON.stringify(parts.map((part) => part.samples)));
  const name = new Uint8Array(LONGEST);
  const decoder = new TextDecoder("latin1"); // each byte is one character
  const nameOf = (node: NodeId) =>
    decoder.decode(name.subarray(0, tree.nameOf?.(node, name) ?? 0));
  let directory = 0;
  for (let start = 0; start < samples.length; start += PIECE) {
    const end = Math.min(start + PIECE, samples.length);
    const before = directory;
    const text = await runAsync(whenLoaded(() => {
      directory = before;
      let text = "";
      for (let i = start; i < end; i++) {
        const node = samples.node(i);
        const parent = tree.parent(node);
        if (parent !== directory) text += `/${nameOf(directory = parent)}\0`;
        const own = nameOf(node);
        text += NUMBER.test(own) ? "\0" : `${own}\0`;
      }
      return text;
    }));
    hash.update(text, "latin1");
  }
  return hash.digest("hex").slice(0, 32);
}
