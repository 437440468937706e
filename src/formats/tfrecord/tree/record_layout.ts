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

/** Nodes of a record: more have no ids. */
export const MOST_NODES = 1 << 20;
/** Numbers that are kept of a record. */
const MOST_NUMBERS = 1 << 24;

type Numbers = Float32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>;

/** What a file shows: a value's bytes in the record, or numbers in a form for people, or for programs. */
export type Content =
  & {
    /** What the example calls it; of steps' values nothing. */
    readonly key: string | undefined;
  }
  & (
    | { readonly kind: "value"; readonly start: number; readonly end: number }
    /** A directory of values: starts and ends, by turns. */
    | {
      readonly kind: "values";
      readonly ranges: readonly number[];
      first: number;
    }
    | { readonly kind: "json" | "npy"; readonly numbers: Numbers }
  );

/** The files of an example; those of values that are several have numbers behind all that have names. */
export interface RecordLayout {
  readonly nodes: readonly NamedNode<Content>[];
  /** Nodes that are directories of values, in the order of their values' numbers. */
  readonly lists: readonly number[];
  /** Nodes that are directories of steps, with what their lists are called. */
  readonly steps: ReadonlyMap<number, string>;
  /** How many nodes there are, with those of values. */
  readonly length: number;
  /** About how many bytes it holds. */
  readonly weight: number;
}

/** The forms that numbers have as files. One number says most in JSON, several in NumPy's. */
const FORMS = ["json", "npy"] as const;

/** Where features and lists of a sequence are shown. */
const [CONTEXT, LISTS] = ["context", "feature_lists"] as const;

/** About how many bytes a node takes. */
const NODE_WEIGHT = 250;

/**
 * Lays out an example as files.
 *
 * @param mostNodes How many it may have.
 * @param names Takes their names; those of no other record.
 * @param isOneForm Whether numbers are shown in one form alone: the one that says most to who looks at it.
 * @throws {WireError} If the bytes are none, or it has more.
 * @throws {FormatError} If a feature's name is none of a file.
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
   * Features in a directory: first the short names, which may be in the way of others, and files before their forms.
   *
   * @param before What stands before their names in keys; without, they have none.
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

  /** Each step of a list, by its number. */
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

/** Numbers as a file of JSON, or of NumPy. */
export function formOf(
  { kind, numbers }: Content & { readonly kind: "json" | "npy" },
): Uint8Array {
  if (kind === "npy") return writeNpy({ data: numbers });
  const words = numbers instanceof Float32Array
    ? Array.from(numbers, formatFloat)
    : Array.from(numbers, String);
  return new TextEncoder().encode(`[${words.join(", ")}]\n`);
}
