/**
 * Messages of the server's API. The page imports these types and nothing else of the server.
 *
 * URLs are relative to the base path. Paths are the tree's, without a leading slash; the root's is empty. Failures are
 * answered with a matching status and {@linkcode ErrorMessage}; in a stream, the error is a line of its own.
 */
import type { ContainerInfo } from "../../tree/format.ts";
import type { Display, DisplayNumber } from "./value_messages.ts";

/** Kind of an entry, according to its format, else to its name or first bytes. */
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

export interface ErrorMessage {
  readonly error: {
    /** Identifier: `not-found`, `bad-request`, `damaged`, … */
    readonly code: string;
    readonly message: string;
  };
}

/** `GET api/info` */
export interface InfoMessage {
  readonly version: string;
  /** Display name of what is served, without secrets. */
  readonly name: string;
  /** As printed by `recordfs info --json`. */
  readonly info: ContainerInfo;
  /** Whether `POST api/check` is available. */
  readonly canCheck: boolean;
  /** Served containers with the directory of each (empty: the root). */
  readonly sources: readonly {
    readonly location: string;
    readonly path: string;
  }[];
  /** Samples of all sources, as indexed by `api/at`; `null` if they have no indices. */
  readonly samples: {
    /** The container's own word, such as `datapoints`, `files`, `records`, `rows`, `samples` or `videos`. */
    readonly unit: string;
    readonly length: number;
  } | null;
}

export interface Entry {
  /** Path from the root, for display. Bytes that are not UTF-8 are lone surrogates, as in Python. */
  readonly path: string;
  /** The path, percent-encoded where needed: for use behind `files/`, and behind `path=` in queries. */
  readonly url: string;
  readonly name: string;
  readonly kind: Kind;
  readonly isDirectory: boolean;
  /** Whether it is a link, which the server follows. */
  readonly isLink: boolean;
  /** In bytes; 0 for a directory, `null` if the container is damaged at this point. */
  readonly size: number | null;
  /** Description of the damage; `null` if none is known. */
  readonly damage: string | null;
  /** In milliseconds since 1970. */
  readonly mtime: number;
  /** Node in the tree, shown by mounts as the inode number. */
  readonly ino: number;
  /**
   * Image for its thumbnail, in the form of {@linkcode Entry.url}: an image's own, a clip's first frame, a datapoint's
   * first image; `null` if there is none.
   */
  readonly thumbnailUrl: string | null;
}

/**
 * `GET api/list?path=&cursor=&limit=`, or `&at=N` instead of a cursor; starts at the front without either. `limit` is
 * at most 10,000; the default is 200.
 */
export interface ListMessage {
  readonly path: string;
  readonly entries: readonly Entry[];
  /** Cursor of the next page; `null` at the end. A page of very long paths has fewer entries than `limit`. */
  readonly next: string | null;
  /** Number of entries of the directory; `null` while they are still being counted in the background. */
  readonly total: number | null;
  /** How many of the entries are samples; `null` if that is unknown or the directory's entries are not samples. */
  readonly samples: number | null;
  /** Index of this page's first entry in the directory; `null` for a cursor from elsewhere. */
  readonly start: number | null;
}

/** `GET api/entry?path=` */
export interface EntryMessage {
  readonly entry: Entry;
  /** Parent directory; empty for entries of the root, and for the root. */
  readonly parent: string;
  /** In the form of {@linkcode Entry.url}. */
  readonly parentUrl: string;
  /** Index in the parent directory; `null` if unknown. */
  readonly index: number | null;
  /** Sample index, as for `api/at`; `null` if it is not a sample. */
  readonly sample: number | null;
  /** Index among the samples of its directory, not counting other entries; `null` if it is not a sample. */
  readonly place: { readonly index: number; readonly length: number } | null;
  /** The format's view of it; `null` if there is none. */
  readonly view: EntryView | null;
}

export type EntryView = ClipView | DatapointView;

/** Video as frames. */
export interface ClipView {
  readonly kind: "clip";
  /** Number of frames: frame i is file `frame(i)` of the directory. */
  readonly frames: number;
  /** Names of the first 1,000 frames; `api/list` with `&at=` has more. Frames come first in the directory. */
  readonly names: readonly string[];
  /** Frames per second, if known. */
  readonly framesPerSecond: number | null;
  /** Labels and other metadata as JSON; `null` if there are none or they exceed 1 MiB. */
  readonly meta: Display | null;
  /** File of the metadata, in the form of {@linkcode Entry.url}. `api/value` has what is truncated in `meta`. */
  readonly metaUrl: string | null;
}

export interface DatapointView {
  readonly kind: "datapoint";
  readonly cells: readonly Cell[];
}

/** Value of a datapoint. */
export interface Cell {
  readonly key: string;
  /** Type according to the container, such as `utf8`, `array` or `jpg`; empty if it gives none. */
  readonly type: string;
  readonly kind: Kind;
  /** In bytes; `null` if the container is damaged at this point, 0 for a list. */
  readonly size: number | null;
  /** File of the value; for a list of values, its directory, and `kind` is that of the elements. */
  readonly path: string;
  readonly url: string;
  /** Whether it is a list of values, which are the entries of `path`. */
  readonly isList: boolean;
  /**
   * The value if it is small (number, short text, tree of up to 4 KiB, shape of an array); `null` for images and large
   * values, which `files/PATH` (images) and `api/value?path=` serve.
   */
  readonly value: CellValue | null;
}

export type CellValue =
  | { readonly kind: "tree"; readonly value: Display }
  | { readonly kind: "text"; readonly text: string; readonly isCut: boolean }
  | {
    readonly kind: "array";
    readonly shape: readonly number[];
    readonly dtype: string;
    /** For small arrays, up to 64 numbers. */
    readonly data: readonly DisplayNumber[] | null;
  }
  | { readonly kind: "list"; readonly length: number };

/** `GET api/row?path=DIR&cursor=&limit=` or `&at=N`; `limit` is at most 500, and 50 by default. */
export interface RowsMessage {
  readonly path: string;
  /** Keys of all rows of this page, in order. Several types of a key are joined by commas. */
  readonly keys: readonly { readonly key: string; readonly type: string }[];
  /** Entries of the directory that are datapoints. */
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly total: number | null;
  readonly start: number | null;
}

export interface Row {
  readonly entry: Entry;
  /** Index among the directory's entries, as for `at`. */
  readonly index: number;
  readonly cells: readonly Cell[];
  /** Description of the damage, if there are no cells because of it. */
  readonly damage: string | null;
}

/**
 * `GET api/search?glob=&path=&limit=`, one line per message; `limit` is at most 100,000, and 10,000 by default. A glob
 * is matched against the path relative to `path`; one without a slash, against names at any depth.
 */
export type SearchLine =
  | { readonly entry: Entry }
  | { readonly looked: number }
  /** The last line: whether `limit` was reached, and how many directories cannot be listed. */
  | {
    readonly isComplete: true;
    readonly looked: number;
    readonly found: number;
    readonly damaged: number;
    readonly isCut: boolean;
  }
  | ErrorMessage;

/** `GET api/random?path=&count=&seed=`; `count` is at most 1,000, 50 by default; `seed` an integer ≥ 0, default 0. */
export interface RandomMessage {
  readonly seed: number;
  /** Distinct entries: fewer than requested if there are not enough. */
  readonly entries: readonly Entry[];
  /** Number of entries to choose from. */
  readonly total: number;
}

/** `GET api/at?index=N` */
export interface AtMessage {
  readonly entry: Entry;
  readonly parent: string;
  readonly parentUrl: string;
}

/** `GET api/picture?path=` */
export interface PictureMessage {
  /** Description of the damage; `null` if the image is sound or the server cannot decode it. */
  readonly damage: string | null;
}

/** `GET api/statistics?path=`, one line per message, several per second. Each has everything known so far. */
export type StatisticsLine = Statistics | ErrorMessage;

export interface Statistics {
  readonly isComplete: boolean;
  /** Entries examined so far. */
  readonly done: number;
  /** Total number of entries, if known. */
  readonly total: number | null;
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  readonly damaged: number;
  /** Files by size: `counts[i]` have from `edges[i]` to below `edges[i + 1]` bytes; edges are 0 and powers of two. */
  readonly sizes: Histogram;
  readonly kinds: readonly { readonly kind: Kind; readonly count: number }[];
  /** Number of samples with labels, and of those examined: all, or a regular sample of them. */
  readonly samples: { readonly looked: number; readonly total: number };
  /** Label values, most frequent first: at most 1,000 for each of at most 16 labels. */
  readonly labels: readonly {
    readonly label: string;
    readonly values: readonly {
      /** `null` for a null, which is distinct from the text "null". */
      readonly value: string | null;
      readonly count: number;
    }[];
    /** Number of distinct values seen, up to 100,000. */
    readonly different: number;
  }[];
  /** Histogram of clips by number of frames; `null` if there are none. */
  readonly framesPerClip: Histogram | null;
  /** Sizes of images, from their headers: of all, or of a regular sample. */
  readonly dimensions: {
    readonly looked: number;
    readonly pictures: number;
    readonly sizes: readonly {
      readonly width: number;
      readonly height: number;
      readonly count: number;
    }[];
    readonly widths: Histogram;
    readonly heights: Histogram;
  } | null;
  readonly keys: readonly {
    readonly key: string;
    readonly type: string;
    readonly values: number;
    readonly bytes: number;
  }[];
}

/** Counts of the bins between edges; there is one edge more than counts. */
export interface Histogram {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

/** `POST api/check`, one line per message. One check runs at a time; a second is rejected with 409 `busy`. */
export type CheckLine =
  | { readonly done: number; readonly total: number }
  | {
    readonly damage: {
      readonly code: string;
      readonly message: string;
      /** The container's file with the damage. */
      readonly file: string | null;
    };
  }
  /** The last line. */
  | {
    readonly report: {
      readonly samples: number;
      readonly bytes: number;
      readonly damaged: number;
      /** Whether contents were compared, or only the layout because there are no checksums. */
      readonly compares: "contents" | "structure";
    };
  }
  | ErrorMessage;
