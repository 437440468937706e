import type { Kind } from "./contender.ts";
import type { Case } from "./promises.ts";

/** Speed of a server relative to the same files on ext4, all cached, when the suite was designed. */
interface Relation {
  readonly kind: Kind;
  /** Rate as a share of ext4's. */
  readonly share: number;
  /**
   * Rate in the unit of the measurement that is plausible regardless of ext4: ext4 copies a large file several times
   * as fast if the kernel caches it in large folios, which says nothing about the server.
   */
  readonly rate?: number;
  applies(to: Case): boolean;
}

/** A server below this part of its relation was not measured correctly. */
const FAR_BELOW = 0.5;

const isRead = (readers: number) => (to: Case) =>
  to.what === "cold" && to.size === 100_000 && to.readers === readers;
const isSequential = ({ what }: Case) => what === "sequential";

/** Lower ends of the observed shares; `tuning.md` has the rates. */
const RELATIONS: readonly Relation[] = [
  { kind: "libfuse", share: 10_200 / 53_000, applies: isRead(1) },
  { kind: "libfuse", share: 18_300 / 113_000, applies: isRead(2) },
  { kind: "EROFS", share: 5_900 / 53_000, applies: isRead(1) },
  { kind: "EROFS", share: 18_000 / 113_000, applies: isRead(2) },
  { kind: "squashfuse", share: 4_200 / 53_000, applies: isRead(1) },
  { kind: "squashfuse", share: 8_500 / 113_000, applies: isRead(2) },
  { kind: "fuse-zip", share: 3_500 / 53_000, applies: isRead(1) },
  {
    kind: "libfuse, defaults",
    share: 1.5 / 7.5,
    rate: 1500,
    applies: isSequential,
  },
];

/**
 * Returns why a figure is implausible, or `undefined` if it is plausible.
 *
 * @param rate The best rate of that kind.
 * @param ext4 The rate of the same files on ext4.
 */
export function doubt(
  kind: Kind,
  to: Case,
  rate: number,
  ext4: number,
): string | undefined {
  const relation = RELATIONS.find((relation) =>
    relation.kind === kind && relation.applies(to)
  );
  if (relation === undefined || rate >= (relation.rate ?? Infinity)) {
    return undefined;
  }
  const share = rate / ext4;
  if (share >= FAR_BELOW * relation.share) return undefined;
  return `VOID: ${share.toFixed(3)} of ext4's rate, it was known to be ` +
    relation.share.toFixed(3);
}
