import { writeNpy } from "../../../codecs/numpy/mod.ts";
import { formatFloat } from "../../../codecs/json/format.ts";
import {
  numbersOf,
  scanExample,
  type ScannedFeature,
  valueCount,
} from "../proto/scan_example.ts";
import { WireError } from "../proto/wire.ts";
import { type NamedNode, NodeNames } from "./layout_names.ts";

/** Limit of nodes of a record, so that each has an id. */
export const MOST_NODES = 1 << 20;
/** Limit of numbers in a record. */
const MOST_NUMBERS = 1 << 24;

type Numbers = Float32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>;

/** Content of a file: a bytes value in the record, or numbers in a form for people or for programs. */
export type Content =
  & {
    /** Key in the example; undefined for values of steps. */
    readonly key: string | undefined;
  }
  & (
    | { readonly kind: "value"; readonly start: number; readonly end: number }
    /** A directory of values: starts and ends, alternating. */
    | {
      readonly kind: "values";
      readonly ranges: readonly number[];
      first: number;
    }
    | { readonly kind: "json" | "npy"; readonly numbers: Numbers }
  );

/** Files of an example; the nodes of values in directories follow those with names. */
export interface RecordLayout {
  readonly nodes: readonly NamedNode<Content>[];
  /** Nodes that are directories of values, in the order of their values' numbers. */
  readonly lists: readonly number[];
  /** Nodes that are directories of steps, with the keys of their lists. */
  readonly steps: ReadonlyMap<number, string>;
  /** Number of nodes, including those of values. */
  readonly length: number;
  /** Approximate size in bytes. */
  readonly weight: number;
}

/** Forms of numbers as files. JSON says most of one number, NumPy's form of several. */
const FORMS = ["json", "npy"] as const;

/** Directories of a sequence's features and lists. */
const [CONTEXT, LISTS] = ["context", "feature_lists"] as const;

/** Approximate size of a node in bytes. */
const NODE_WEIGHT = 250;

/**
 * Lays out an example as files; `names` must be new. With `isOneForm`, numbers show only in the form that says most to
 * viewers. Throws WireError if the bytes are not an example or exceed a limit, FormatError if a feature's name cannot
 * be a file name.
 */
export function layOut(
  bytes: Uint8Array,
  mostNodes: number,
  names: NodeNames<Content>,
  isOneForm: boolean,
): RecordLayout {
  const { isSequence, features, lists } = scanExample(bytes);
  const layout = new Layout(bytes, names, isOneForm);
  const root = isSequence ? layout.names.directory(0, CONTEXT) : 0;
  layout.addAll(root, features, isSequence ? `${CONTEXT}/` : "");
  if (isSequence) {
    const below = layout.names.directory(0, LISTS);
    for (const [key, steps] of lists) layout.addSteps(below, key, steps);
  }
  return layout.finish(mostNodes);
}

class Layout {
  readonly names: NodeNames<Content>;
  readonly #bytes: Uint8Array;
  readonly #isOneForm: boolean;
  readonly #steps = new Map<number, string>();
  #numbers = 0;
  #numberBytes = 0;

  constructor(
    bytes: Uint8Array,
    names: NodeNames<Content>,
    isOneForm: boolean,
  ) {
    this.#bytes = bytes;
    this.names = names;
    this.#isOneForm = isOneForm;
  }

  /**
   * Adds features to a directory: short names first, which may block others, and files before forms. `before` is the
   * prefix of their keys; without it, they have none.
   */
  addAll(
    directory: number,
    features: ReadonlyMap<string, ScannedFeature>,
    before: string | undefined,
  ): void {
    const sorted = [...features].sort(([a], [b]) => a.length - b.length);
    for (const [key, feature] of sorted) {
      this.#addValues(directory, key, feature, before);
    }
    for (const [key, feature] of sorted) {
      this.#addForms(directory, key, feature, before);
    }
  }

  /** Adds each step of a list, by number. */
  addSteps(
    directory: number,
    key: string,
    steps: readonly ScannedFeature[],
  ): void {
    const width = Math.max(6, String(steps.length - 1).length);
    const numbered = steps.map((feature, i) =>
      [`${key}/${String(i).padStart(width, "0")}`, feature] as const
    );
    if (steps.length === 0) {
      const none = { kind: "values", ranges: [], first: 0 } as const;
      this.names.file(directory, key, { ...none, key: undefined });
    }
    this.addAll(directory, new Map(numbered), undefined);
    const node = this.names.find(directory, key);
    if (node > 0) this.#steps.set(node, `${LISTS}/${key}`);
  }

  finish(mostNodes: number): RecordLayout {
    const { nodes } = this.names;
    const lists: number[] = [];
    let length = nodes.length;
    for (const [node, { content }] of nodes.entries()) {
      if (content?.kind !== "values") continue;
      content.first = length;
      length += content.ranges.length / 2;
      lists.push(node);
    }
    if (length > mostNodes) {
      throw new WireError(`more than ${mostNodes} files`);
    }
    const weight = NODE_WEIGHT * nodes.length + 16 * (length - nodes.length) +
      this.#numberBytes;
    return { nodes, lists, steps: this.#steps, length, weight };
  }

  #addValues(
    directory: number,
    name: string,
    feature: ScannedFeature,
    before: string | undefined,
  ): void {
    const key = before === undefined ? undefined : before + name;
    const { kind, ranges } = feature;
    if (kind !== "bytes" && kind !== "nothing") return;
    const [start, end] = ranges as [number, number];
    const content: Content = ranges.length === 2
      ? { kind: "value", key, start, end }
      : { kind: "values", key, ranges, first: 0 };
    this.names.file(directory, name, content);
  }

  #addForms(
    directory: number,
    name: string,
    feature: ScannedFeature,
    before: string | undefined,
  ): void {
    const key = before === undefined ? undefined : before + name;
    const { kind } = feature;
    if (kind !== "float" && kind !== "int64") return;
    this.#numbers += valueCount(this.#bytes, feature);
    if (this.#numbers > MOST_NUMBERS) {
      throw new WireError(`more than ${MOST_NUMBERS} numbers`);
    }
    const numbers = numbersOf(this.#bytes, feature);
    this.#numberBytes += numbers.byteLength;
    const forms = this.#isOneForm && numbers.length !== 1
      ? FORMS.toReversed()
      : FORMS;
    for (const kind of forms) {
      const isPlaced = this.names.file(directory, `${name}.${kind}`, {
        kind,
        key,
        numbers,
      });
      if (isPlaced && this.#isOneForm) return;
    }
  }
}

/** Returns numbers as the content of a JSON or NumPy file. */
export function formOf(
  { kind, numbers }: Content & { readonly kind: "json" | "npy" },
): Uint8Array {
  if (kind === "npy") return writeNpy({ data: numbers });
  const words = numbers instanceof Float32Array
    ? Array.from(numbers, formatFloat)
    : Array.from(numbers, String);
  return new TextEncoder().encode(`[${words.join(", ")}]\n`);
}
