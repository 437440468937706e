import { RecordfsError } from "../../base/errors.ts";

const LABELS = ["bigint", "boolean", "number", "string"];

/** @throws {RecordfsError} With code `no-label` if the value is not a text, a number or a boolean. */
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
    `Cannot read label '${label}' of sample ${sample}${called} of ` +
      `${path()}: it has none that is a text or a number`,
    { path: path(), sample, actual: value },
  );
}
