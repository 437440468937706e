/** What all threads that serve a dataset take for true of a shard, whoever opened it first. */
export const ShardFact = {
  /** How many datapoints it has: a writer may be at work. */
  LENGTH: 0,
  /** Microseconds since 1970. */
  MTIME: 1,
  /** Bytes of its files. */
  BYTES: 2,
  /** How many nodes its tree has. */
  NODES: 3,
  /** How many keys it has. */
  KEYS: 4,
  /** Which inodes its bags are, as a hash. */
  INODES: 5,
  GENERATION: 6,
} as const;

const FACTS = 7;

/**
 * Facts about shards in memory that threads share. Each thread opens a shard when it first needs it; what
 * the first one finds is what the others go by.
 */
export class ShardFacts {
  readonly memory: BigUint64Array<SharedArrayBuffer>;

  /** @param memory What another thread gave; by default, nothing is known yet. */
  constructor(
    shards: number,
    memory: BigUint64Array<SharedArrayBuffer> = new BigUint64Array(
      new SharedArrayBuffer(shards * FACTS * BigUint64Array.BYTES_PER_ELEMENT),
    ),
  ) {
    this.memory = memory;
  }

  /** Says a fact, unless it was said; and what is said. */
  agree(shard: number, fact: number, value: number): number {
    const said = BigInt(Math.max(0, Math.round(value))) + 1n; // 0 is for what nobody said
    const at = shard * FACTS + fact;
    const before = Atomics.compareExchange(this.memory, at, 0n, said);
    return Number((before || said) - 1n);
  }

  /** A fact that was said, or `undefined`. */
  get(shard: number, fact: number): number | undefined {
    const said = Atomics.load(this.memory, shard * FACTS + fact);
    return said === 0n ? undefined : Number(said - 1n);
  }

  /** Sum of a fact over the shards of which it is known. */
  sum(fact: number): number {
    let sum = 0;
    for (let at = fact; at < this.memory.length; at += FACTS) {
      const said = Atomics.load(this.memory, at);
      if (said > 0n) sum += Number(said - 1n);
    }
    return sum;
  }
}
