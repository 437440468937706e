import type { Original } from "../originals.ts";
import type { Mutated, Scene } from "../scene.ts";

/** A way to exercise a container. */
export interface Drive {
  readonly name: string;
  /** Runs in one of this many cases. */
  readonly every: number;
  /** Whether the drive applies to a case. */
  readonly fits?: (original: Original, mutated: Mutated) => boolean;
  /** Allowed growth of the process in MiB for containers with images; 256 by default. */
  readonly memory?: number;
  run(scene: Scene): Promise<void>;
}

/** Options that suppress warnings. */
export const QUIET = { onWarning() {} } as const;
