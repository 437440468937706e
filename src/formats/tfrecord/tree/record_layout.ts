import { writeNpy } from "../../../codecs/numpy/mod.ts";
import { formatFloat } from "../../../codecs/json/format.ts";
import type { NodeView } from "../../../tree/node_view.ts";
import type {
  NamedNode,
  NodeContent,
  RecordLayout,
} from "../../../tree/records/record_layout.ts";
import {
  numbersOf,
  scanExample,
  type ScannedFeature,
  valueCount,
} from "../proto/scan_example.ts";
import { WireError } from "../proto/wire.ts";
import { NodeNames } from "./layout_names.ts";
import { bytesView, numbersView } from "./value_view.ts";

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
    | Exclude<NodeContent, { readonly kind: "made" | "values" }>
    | NodeContent & { readonly kind: "values" } & { first: number }
    | Made
  );

/** Content of a number file. */
export type Made = NodeContent & {
  readonly kind: "made";
  readonly form: "json" | "npy";
  readonly numbers: Numbers;
};

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
    const view = (node: number) => viewOf(nodes, this.#steps, node);
    return { nodes, lists, length, weight, view };
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
    for (const form of forms) {
      const isPlaced = this.names.file(directory, `${name}.${form}`, {
        ...{ kind: "made", key, form, numbers },
        make: () => formOf(form, numbers),
      });
      if (isPlaced && this.#isOneForm) return;
    }
  }
}

/** Returns how viewers show a node; `steps` are the keys of lists by the nodes of their directories. */
function viewOf(
  nodes: readonly NamedNode<Content>[],
  steps: ReadonlyMap<number, string>,
  node: number,
): NodeView | undefined {
  const list = steps.get(node);
  if (list !== undefined) return bytesView("steps", true, list);
  const named = nodes[node];
  if (named === undefined) return bytesView("bytes", false, undefined);
  const { content } = named;
  if (content === undefined) return undefined;
  const key = isOther(nodes, node) ? undefined : content.key;
  return content.kind === "made"
    ? numbersView(content, key)
    : bytesView("bytes", content.kind === "values", key);
}

/** Whether a node is the second form of numbers, next to the first. */
function isOther(
  nodes: readonly NamedNode<Content>[],
  node: number,
): boolean {
  const content = nodes[node]!.content;
  const before = nodes[node - 1]?.content;
  return content?.kind === "made" && content.form === "npy" &&
    before?.kind === "made" && before.form === "json" &&
    before.numbers === content.numbers;
}

/** Returns numbers as the content of a JSON or NumPy file. */
function formOf(form: Made["form"], numbers: Numbers): Uint8Array {
  if (form === "npy") return writeNpy({ data: numbers });
  const words = numbers instanceof Float32Array
    ? Array.from(numbers, formatFloat)
    : Array.from(numbers, String);
  return new TextEncoder().encode(`[${words.join(", ")}]\n`);
}
