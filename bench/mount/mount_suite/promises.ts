import type { Kind } from "./contender.ts";

/** What is measured; with the size of the files in bytes, and how many read them at once. */
export interface Case {
  readonly what:
    | "cold"
    | "warm"
    | "sequential"
    | "find"
    | "ls -lR"
    | "time to mount"
    | "memory";
  readonly size?: number;
  readonly readers?: number;
}

/** How recordfs promises to compare with another, in one run on two cores. */
interface Promised {
  readonly against: Kind;
  /** Least median of the ratios of the rounds: recordfs to the other. */
  readonly atLeast?: number;
  /** The same of the other to recordfs, where recordfs is the one that promises less. */
  readonly otherAtLeast?: number;
  applies(to: Case): boolean;
}

const isRead = (size: number, ...readers: number[]) => (to: Case) =>
  to.what === "cold" && to.size === size && readers.includes(to.readers!);

const PROMISES: readonly Promised[] = [
  { against: "libfuse", atLeast: 1, applies: isRead(100_000, 1, 2) },
  {
    against: "recordfs, verifying",
    otherAtLeast: 0.75,
    applies: isRead(100_000, 1, 2),
  },
  { against: "squashfuse", atLeast: 1.8, applies: isRead(100_000, 1) },
  { against: "squashfuse", atLeast: 2.5, applies: isRead(100_000, 2) },
  { against: "fuse-zip", atLeast: 3, applies: isRead(100_000, 1) },
  { against: "EROFS", atLeast: 1.2, applies: isRead(100_000, 1) },
  { against: "libfuse", atLeast: 0.95, applies: isRead(4096, 1, 2, 8) },
  {
    against: "libfuse, defaults",
    atLeast: 1.2,
    applies: ({ what }) => what === "sequential",
  },
  { against: "libfuse", atLeast: 1, applies: ({ what }) => what === "find" },
];

/** What is promised of recordfs beside that kind, and whether it is kept. */
export function promiseAgainst(
  kind: Kind,
  to: Case,
  ratio: number,
): { promise: string; met: boolean } | undefined {
  const promised = PROMISES.find((promise) =>
    promise.against === kind && promise.applies(to)
  );
  if (promised === undefined) return undefined;
  const { atLeast, otherAtLeast } = promised;
  return otherAtLeast === undefined
    ? { promise: `≥ ${atLeast}×`, met: ratio >= atLeast! }
    : {
      promise: `it ≥ ${otherAtLeast}× recordfs without`,
      met: 1 / ratio >= otherAtLeast,
    };
}
