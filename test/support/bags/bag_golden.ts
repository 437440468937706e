/** The bags and datasets that the original Python libraries wrote, and their `expect.json`. */
import assert from "node:assert/strict";
import { goldenSet, sha256 } from "../golden.ts";

/** Single bags, and datasets of generations 1, 1, 2 and 3. */
const SETS = ["bag", "bags", "granular", "granular2", "granular3"];

/** A record as `expect.json` describes it. */
export interface ExpectedRecord {
  readonly size: number;
  readonly sha256: string;
  /** Set where reading it must fail. */
  readonly error?: string;
}

/** References of a datapoint into the bags of its keys. */
export type ExpectedReferences = readonly (number | readonly number[])[];

/** Content of a dataset. */
export interface DatasetContent {
  readonly sharded: boolean;
  readonly spec: Readonly<Record<string, string>>;
  readonly length: number;
  readonly size?: number;
  readonly shards: readonly {
    readonly name: string;
    readonly length: number;
    readonly size?: number;
    readonly bags: Readonly<
      Record<
        string,
        {
          readonly length: number;
          readonly size?: number;
          readonly records: readonly ExpectedRecord[];
        }
      >
    >;
  }[];
  readonly refs?: readonly ExpectedReferences[];
  readonly datapoints?: readonly Readonly<Record<string, unknown>>[];
}

interface AnyCase {
  /** Such as `bag/many`. */
  readonly name: string;
  /** Path of the bag or directory. */
  readonly path: string;
  readonly title: string;
  readonly valid: boolean;
  readonly expected: {
    readonly outcome: "error" | "partial" | "error-or-partial" | "error-or-ok";
    readonly words: string;
  };
}

/** `expect.json` of a bag. */
export interface BagCase extends AnyCase {
  readonly kind: "bag";
  readonly content?: {
    readonly length: number;
    readonly size?: number;
    readonly limits?: readonly number[];
    readonly records: readonly ExpectedRecord[];
  };
  readonly queries?: readonly {
    readonly start: number;
    readonly stop: number;
    readonly indices: readonly number[];
  }[];
}

/** `expect.json` of a dataset. */
export interface DatasetCase extends AnyCase {
  readonly kind: "bags" | "granular";
  readonly content?: DatasetContent;
  readonly queries?: readonly {
    readonly index: number;
    readonly mask: Readonly<Record<string, true | readonly [number, number]>>;
    readonly values: Readonly<Record<string, unknown>>;
  }[];
}

const cases = SETS.flatMap((set) =>
  goldenSet<BagCase | DatasetCase>(set).all()
    .map((golden) => ({
      ...golden,
      name: `${set}/${golden.name}`,
      expected: inOurWords(golden.expected)!,
    }))
);

/** Returns the expected outcome of a damaged case, with the words of the product's messages. */
function inOurWords(expected?: AnyCase["expected"]) {
  return expected?.words === "index is cut"
    ? { ...expected, words: "index is truncated" }
    : expected;
}

/** All bags. */
export const bagCases: readonly BagCase[] = cases.filter((golden) =>
  golden.kind === "bag"
);

/** All datasets. */
export const datasetCases: readonly DatasetCase[] = cases.filter((golden) =>
  golden.kind !== "bag"
);

/** Returns the dataset of a name, such as `bags/lists`. */
export function datasetCase(name: string): DatasetCase {
  return datasetCases.find((golden) => golden.name === name)!;
}

/** Returns the generation of a case, by its set. */
export function generationOf({ name }: AnyCase): 1 | 2 | 3 {
  return name.startsWith("granular3/")
    ? 3
    : name.startsWith("granular2/")
    ? 2
    : 1;
}

/** Compares bytes with the size and hash in `expect.json`. */
export function assertBytes(
  actual: unknown,
  { size, sha256: hash }: ExpectedRecord,
): void {
  assert.ok(actual instanceof Uint8Array);
  assert.equal(actual.length, size);
  assert.equal(sha256(actual), hash);
}

/** Compares a value with `expect.json`. Values that stay bytes are compared with the encoded bytes. */
export function assertValue(actual: unknown, expected: unknown): void {
  if (Array.isArray(actual)) {
    assert.ok(Array.isArray(expected) && expected.length === actual.length);
    actual.forEach((value, i) => assertValue(value, expected[i]));
  } else if (actual instanceof Uint8Array) {
    const { $bytes, $image, $array } = expected as {
      readonly $bytes?: ExpectedRecord;
      readonly $array?: ExpectedRecord;
      readonly $image?: { readonly encoded: ExpectedRecord };
    };
    assertBytes(actual, ($bytes ?? $array ?? $image?.encoded)!);
  } else if (typeof actual === "bigint") {
    assert.deepEqual({ $int: String(actual) }, expected);
  } else assert.equal(actual, expected);
}
