/**
 * What the server's API answers. The page imports these types, and nothing else of the server.
 *
 * URLs are relative to the base path; paths in them are the tree's, without a leading slash, the root's being empty.
 * What fails is answered with a fitting status and {@linkcode ErrorMessage}; in a stream it is a line of its own.
 */
import type { ContainerInfo } from "../../tree/format.ts";
import type { Display, DisplayNumber } from "./value_messages.ts";

/** What an entry is, by what its format says of it, else by its name. */
export type Kind =
  | "directory"
  | "clip"
  | "datapoint"
  | "image"
  | "svg"
  | "video"
  | "audio"
  | "text"
  | "json"
  | "csv"
  | "array"
  | "pickle"
  | "msgpack"
  | "html"
  | "pdf"
  | "binary";

/** What went wrong. */
export interface ErrorMessage {
  readonly error: {
    /** Names it: `not-found`, `bad-request`, `damaged`, … */
    readonly code: string;
    /** Says it, and what to do. */
    readonly message: string;
  };
}

/** `GET api/info` */
export interface InfoMessage {
  /** The program's version. */
  readonly version: string;
  /** What is served, as it is called: without secrets. */
  readonly name: string;
  /** As `recordfs info --json` prints it. */
  readonly info: ContainerInfo;
  /** Whether `POST api/check` works. */
  readonly canCheck: boolean;
  /** The containers that are served, and the directory that each shows in (empty: all of the root). */
  readonly sources: readonly {
    readonly location: string;
    readonly path: string;
  }[];
  /** The samples of all sources, as `api/at` counts them; `null` where they have no numbers. */
  readonly samples: {
    /** `datapoints`, `files`, `samples` or `videos`. */
    readonly unit: string;
    readonly length: number;
  } | null;
}

/** An entry of a directory. */
export interface Entry {
  /** Its path from the root, to be shown: bytes that are no UTF-8 are lone surrogates, as in Python. */
  readonly path: string;
  /** The same with each byte that needs it percent-encoded: behind `files/`, and behind `path=` in queries. */
  readonly url: string;
  /** The last part of the path. */
  readonly name: string;
  readonly kind: Kind;
  readonly isDirectory: boolean;
  /** Whether it is a link, which the server follows. */
  readonly isLink: boolean;
  /** In bytes; 0 of a directory; `null` where the container is damaged at that place. */
  readonly size: number | null;
  /** Why it is damaged; `null` where nothing is known to be. */
  readonly damage: string | null;
  /** In milliseconds since 1970. */
  readonly mtime: number;
  /** The node in the tree, which a mount shows as inode. */
  readonly ino: number;
  /**
   * The picture to show for it, as {@linkcode Entry.url}: an image's own, a clip's first frame, the first picture of a
   * datapoint; `null` where there is none.
   */
  readonly thumbnailUrl: string | null;
}

/**
 * `GET api/list?path=&cursor=&limit=` or `&at=N` in place of a cursor; `limit` is at most 10,000, and 200 unless given.
 * Without either it starts at the front.
 */
export interface ListMessage {
  readonly path: string;
  readonly entries: readonly Entry[];
  /** Where the next page starts; `null` at the end. A page of very long paths has fewer entries than `limit`. */
  readonly next: string | null;
  /** How many entries the directory has; `null` while that is not known: it is counted in the background. */
  readonly total: number | null;
  /** How many of them are samples; `null` where that is not known, or they are not what the directory holds. */
  readonly samples: number | null;
  /** The index of the first entry of this page in the directory; `null` where a cursor came from elsewhere. */
  readonly start: number | null;
}

/** `GET api/entry?path=` */
export interface EntryMessage {
  readonly entry: Entry;
  /** The directory that it is in; empty for those at the root, and for the root. */
  readonly parent: string;
  /** The same as {@linkcode Entry.url}. */
  readonly parentUrl: string;
  /** Its place among the entries of that directory; `null` where that is not known. */
  readonly index: number | null;
  /** Its number among the samples, as `api/at` counts them; `null` where it is none. */
  readonly sample: number | null;
  /** Its place among the samples of that directory, which other entries do not count in; `null` where it is none. */
  readonly place: { readonly index: number; readonly length: number } | null;
  /** What the format says of it; `null` where it says nothing. */
  readonly view: EntryView | null;
}

/** What an entry of a kind of its own holds. */
export type EntryView = ClipView | DatapointView;

/** A video in frames. */
export interface ClipView {
  readonly kind: "clip";
  /** How many frames it has: frame i is file `frame(i)` of the directory. */
  readonly frames: number;
  /**
   * The first frames' names, at most 1,000; further ones are those of `api/list`, by `&at=`. Frames come
   * first in the directory, in their order.
   */
  readonly names: readonly string[];
  /** Frames a second, where it is known. */
  readonly framesPerSecond: number | null;
  /** Its labels and what else is known of it, as JSON; `null` where there is nothing, or it is over 1 MiB. */
  readonly meta: Display | null;
  /** The file of that, as {@linkcode Entry.url}: what `meta` was cut to is asked for by `api/value`. */
  readonly metaUrl: string | null;
}

/** A row of keys with values. */
export interface DatapointView {
  readonly kind: "datapoint";
  readonly cells: readonly Cell[];
}

/** A value of a datapoint. */
export interface Cell {
  readonly key: string;
  /** The type that the container gives it, such as `utf8`, `array` or `jpg`; empty where it gives none. */
  readonly type: string;
  readonly kind: Kind;
  /** In bytes; `null` where the container is damaged at that place, 0 of a list. */
  readonly size: number | null;
  /** Its file; or its directory, where it is a list of values: `kind` is that of its elements then. */
  readonly path: string;
  /** As {@linkcode Entry.url}. */
  readonly url: string;
  /** Whether it is a list of values, which are the entries of `path`. */
  readonly isList: boolean;
  /**
   * The value, where it is small (numbers, short texts, trees of up to 4 KiB, shapes of arrays); `null` for
   * pictures and all that is large: ask `api/value?path=`, or `files/PATH` for pictures.
   */
  readonly value: CellValue | null;
}

/** A value that fits into a cell. */
export type CellValue =
  | { readonly kind: "tree"; readonly value: Display }
  | { readonly kind: "text"; readonly text: string; readonly isCut: boolean }
  | {
    readonly kind: "array";
    readonly shape: readonly number[];
    readonly dtype: string;
    /** Of small arrays, up to 64 numbers. */
    readonly data: readonly DisplayNumber[] | null;
  }
  | { readonly kind: "list"; readonly length: number };

/** `GET api/row?path=DIR&cursor=&limit=` or `&at=N`; `limit` is at most 500, and 50 unless given. */
export interface RowsMessage {
  readonly path: string;
  /** The keys of all rows of this page, in order; where a key has several types, all of them, with commas. */
  readonly keys: readonly { readonly key: string; readonly type: string }[];
  /** Those entries of the directory that are datapoints. */
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly total: number | null;
  readonly start: number | null;
}

/** A datapoint in a table. */
export interface Row {
  readonly entry: Entry;
  /** Its place among the entries of the directory, as `at` counts them. */
  readonly index: number;
  readonly cells: readonly Cell[];
  /** Why there are no cells, where it is damaged. */
  readonly damage: string | null;
}

/**
 * `GET api/search?glob=&path=&limit=`, a line a message; `limit` is at most 100,000, and 10,000 unless given. A glob is
 * compared with the path below `path`; one without a slash with names at any depth.
 */
export type SearchLine =
  | { readonly entry: Entry }
  | { readonly looked: number }
  /** The last line: whether it was ended by `limit`, and how many directories can't be listed. */
  | {
    readonly isComplete: true;
    readonly looked: number;
    readonly found: number;
    readonly damaged: number;
    readonly isCut: boolean;
  }
  | ErrorMessage;

/** `GET api/random?path=&count=&seed=`; `count` is at most 1,000, and 50 unless given; `seed` an integer ≥ 0, or 0. */
export interface RandomMessage {
  readonly seed: number;
  /** Different ones: fewer than asked for where there are not so many. */
  readonly entries: readonly Entry[];
  /** Out of how many. */
  readonly total: number;
}

/** `GET api/at?index=N` */
export interface AtMessage {
  readonly entry: Entry;
  readonly parent: string;
  /** The same as {@linkcode Entry.url}. */
  readonly parentUrl: string;
}

/** `GET api/picture?path=` */
export interface PictureMessage {
  /** What is wrong with it; `null` if it is sound, or cannot be decoded by the server. */
  readonly damage: string | null;
}

/** `GET api/statistics?path=`, a line a message, several a second; each has all that is known by then. */
export type StatisticsLine = Statistics | ErrorMessage;

/** What is known of a directory and all below it. */
export interface Statistics {
  readonly isComplete: boolean;
  /** Entries that have been looked at. */
  readonly done: number;
  /** How many there are, where that is known. */
  readonly total: number | null;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  /** Entries that can't be read. */
  readonly damaged: number;
  /** Files by size: `counts[i]` have from `edges[i]` to below `edges[i + 1]` bytes; edges are 0 and powers of two. */
  readonly sizes: Histogram;
  /** Files and datapoints by kind. */
  readonly kinds: readonly { readonly kind: Kind; readonly count: number }[];
  /** Samples that have labels of their own, and of how many these were looked at: of all, or of some, evenly chosen. */
  readonly samples: { readonly looked: number; readonly total: number };
  /** Values of what samples are labelled with, most frequent first: at most 1,000 of each of at most 16 labels. */
  readonly labels: readonly {
    readonly label: string;
    readonly values: readonly {
      /** `null` of a null, which is not the text of that name. */
      readonly value: string | null;
      readonly count: number;
    }[];
    /** How many different values were seen; no more are told apart past 100,000. */
    readonly different: number;
  }[];
  /** Clips by how many frames they have; `null` where there are none. */
  readonly framesPerClip: Histogram | null;
  /** Of pictures, by their headers: of all, or of those that were looked at, evenly chosen. */
  readonly dimensions: {
    readonly looked: number;
    readonly pictures: number;
    /** Most frequent first, at most 1,000. */
    readonly sizes: readonly {
      readonly width: number;
      readonly height: number;
      readonly count: number;
    }[];
    readonly widths: Histogram;
    readonly heights: Histogram;
  } | null;
  /** Keys of datapoints with their types. */
  readonly keys: readonly {
    readonly key: string;
    readonly type: string;
    readonly values: number;
    readonly bytes: number;
  }[];
}

/** Counts between edges, of which there is one more. */
export interface Histogram {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

/** `POST api/check`, a line a message. One check runs at a time; a second is refused with 409 `busy`. */
export type CheckLine =
  | { readonly done: number; readonly total: number }
  | {
    readonly damage: {
      readonly code: string;
      readonly message: string;
      /** The container's file that it is in. */
      readonly file: string | null;
    };
  }
  /** The last line. */
  | {
    readonly report: {
      readonly samples: number;
      readonly bytes: number;
      readonly damaged: number;
      /** What was compared: contents, or only how they are laid out, where they have no checksums. */
      readonly compares: "contents" | "structure";
    };
  }
  | ErrorMessage;
