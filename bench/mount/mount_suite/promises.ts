import type { Kind } from "./contender.ts";

/** What is measured, with the file size in bytes and the number of concurrent readers. */
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

/** Promised ratio of recordfs and another kind, in one run on two cores. */
interface Promised {
  readonly against: Kind;
  /** Least median of the rounds' ratios of recordfs to the other. */
  readonly atLeast?: number;
  /** Least median ratio of the other to recordfs, for slower variants of recordfs itself. */
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

/** Returns what recordfs promises compared with that kind, and whether the ratio meets it. */
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
