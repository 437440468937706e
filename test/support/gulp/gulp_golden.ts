// deno-lint-ignore-file camelcase -- the keys of expect.json
/** The GulpIO files that the original Python libraries wrote, and their `expect.json`. */
import { goldenSet } from "../golden.ts";

/** A video as `expect.json` describes it. */
export interface ExpectedVideo {
  readonly id: string;
  readonly chunk: number;
  readonly meta: unknown;
  readonly meta_count: number;
  readonly num_frames: number;
  /** SHA-256 of all frames, concatenated. */
  readonly frames_sha256: string;
  /** SHA-256 of `loc,pad,length` lines. */
  readonly frame_info_sha256: string;
  readonly frames: readonly {
    readonly index: number;
    readonly size: number;
    readonly sha256: string;
    readonly width: number;
    readonly height: number;
    readonly channels: 1 | 3;
  }[];
  /** Set where reading the video must fail, although these frames can be read. */
  readonly error?: string;
  readonly frames_still_good?: readonly number[];
}

/** `expect.json` of one case. */
export interface GulpCase {
  readonly name: string;
  /** Path of the directory. */
  readonly path: string;
  readonly title: string;
  readonly valid: boolean;
  readonly expected: {
    readonly outcome: "error" | "partial" | "error-or-ok";
    readonly stage: string;
    readonly class: string;
    readonly words: string;
  };
  readonly content: {
    readonly num_chunks: number;
    readonly chunks: readonly {
      readonly id: number;
      readonly data: string;
      readonly meta: string;
      readonly ids: readonly string[];
      readonly data_size: number;
    }[];
    readonly videos: readonly ExpectedVideo[];
    readonly label2idx: Record<string, number> | null;
  };
  readonly queries?: readonly {
    readonly id: string;
    readonly slice?: readonly [number | null, number | null, number | null];
    readonly indices?: readonly number[];
    /** Indices of the frames in the result. */
    readonly frames: readonly number[];
    /** SHA-256 of these frames, concatenated. */
    readonly sha256: string;
  }[];
}

/** Rewrites a message of `expect.json` in the product's words, which separate the file's name from the problem. */
function inOurWords(words: string): string {
  return words.replace(/^(\S+\.(?:gulp|gmeta)) (has|is) /, "$1: it $2 ");
}

/** Reviver for values that JSON cannot represent. */
function parsed(key: string, value: unknown): unknown {
  if (key === "words") return inOurWords(value as string);
  if (typeof value !== "object" || value === null) return value;
  if ("$int" in value) return BigInt(value.$int as string);
  if ("$float" in value) {
    return { nan: NaN, inf: Infinity, "-inf": -Infinity }[
      value.$float as string
    ];
  }
  return value;
}

const GOLDENS = goldenSet<GulpCase>("gulp", parsed);

/** Reads all cases. */
export const gulpCases = GOLDENS.all;

/** Reads one case, such as `v2_chunks`. */
export const gulpCase = GOLDENS.one;

/** Concatenates bytes. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(
    parts.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
