import { RecordfsError } from "../../base/errors.ts";

/** Types of values that are labels. */
const LABELS = ["bigint", "boolean", "number", "string"];

/**
 * A value as a label.
 *
 * @param path Where it was found, for the message.
 * @param key What the container calls the sample, if it has names.
 * @throws {RecordfsError} With code `no-label` if it is no text and no number.
 */
export function asLabel(
  value: unknown,
  sample: number,
  path: () => string,
  label: string,
  key?: () => string,
): string {
  if (LABELS.includes(typeof value)) return String(value);
  const called = key === undefined ? "" : ` ('${key()}')`;
  throw new RecordfsError(
    "no-label",
    `Sample ${sample}${called} has no label '${label}' that is a text or a number, in ${path()}`,
    { path: path(), sample, actual: value },
  );
}
