import type { Original } from "../originals.ts";
import type { Mutated, Scene } from "../scene.ts";

/** A way to use a container. */
export interface Drive {
  readonly name: string;
  /** In one of how many cases. */
  readonly every: number;
  /** Whether there is anything to drive in a case. */
  readonly fits?: (original: Original, mutated: Mutated) => boolean;
  /** By how many MiB the process may grow where there may be images; 256 unless given. */
  readonly memory?: number;
  run(scene: Scene): Promise<void>;
}

/** Options that keep what is odd but readable off the terminal. */
export const QUIET = { onWarning() {} } as const;
