import { formatJson } from "../../../codecs/json/format.ts";
import {
  type ExactJson,
  type JsonValue,
  parseJson,
} from "../../../codecs/json/value.ts";
import { MsgpackFloat } from "../../../codecs/msgpack/mod.ts";
import { localPath } from "../../../io/storage/local_path.ts";
import { inputError } from "./input_error.ts";
import { type Label, LabelNumbers } from "./label_numbers.ts";
import {
  ListedAdapter,
  type ListedOptions,
  type ListedVideo,
} from "./listed_adapter.ts";

/** A video with its label. */
export interface LabelledVideo extends ListedVideo {
  /** The label. */
  readonly label: Label;
}

/** A list of videos with labels, which are numbered in `label2idx.json`. */
export abstract class LabelledAdapter<Video extends LabelledVideo>
  extends ListedAdapter<Video> {
  readonly #labels: LabelNumbers;

  /**
   * Lists the videos and numbers their labels.
   *
   * @param options All that the adapter was made with.
   * @param list Lists the videos; called when the options were checked.
   */
  constructor(options: ListedOptions, list: () => Video[]) {
    let labels: LabelNumbers | undefined;
    super(options, () => {
      const videos = list();
      const { outputFolder } = options;
      labels = new LabelNumbers(
        outputFolder === undefined ? undefined : localPath(outputFolder),
        videos.map(({ label }) => label),
      );
      return { videos, labels };
    });
    this.#labels = labels!;
  }

  /** The id, the label and its number. */
  protected override metaOf(
    { id, label }: Video,
  ): { readonly [key: string]: JsonValue } {
    const idx = this.#labels.of(label);
    if (!(label instanceof MsgpackFloat)) return { id, label, idx };
    const meta = parseJson(formatJson({ id, label, idx })); // which keeps its point
    return meta as { readonly [key: string]: JsonValue };
  }
}

/**
 * A video's label as a list has it.
 *
 * @param entry Which entry of the list, for messages.
 * @throws {RecordfsError} If it is missing, or is a list or an object.
 */
export function labelOf(
  list: string,
  entry: string,
  fields: ReadonlyMap<string, ExactJson>,
  labelName: string,
): Label {
  const label = fields.get(labelName);
  if (label === undefined) {
    throw inputError(
      list,
      `${entry} has no label '${labelName}'; it has ${
        [...fields.keys()].join(", ") || "nothing"
      }`,
    );
  }
  const isNested = label !== null && typeof label === "object" &&
    !(label instanceof MsgpackFloat);
  if (isNested) {
    throw inputError(
      list,
      `the label '${labelName}' of ${entry} is a list or an object: labels are text or numbers`,
    );
  }
  return label as Label;
}

/**
 * An id as a list has it.
 *
 * @throws {RecordfsError} If it is neither a string nor an integer.
 */
export function idOf(
  list: string,
  entry: string,
  id: ExactJson | undefined,
): string | number | bigint {
  const isId = typeof id === "string" || typeof id === "bigint" ||
    Number.isSafeInteger(id);
  if (isId) return id as string | number | bigint;
  throw inputError(list, `${entry} has no id that is a string or an integer`);
}
