import type { Steps } from "../../../io/concurrency/steps.ts";
import type { RecordKind } from "../kinds.ts";
import { scanExample } from "./scan_example.ts";
import { WireError, WireFields } from "./wire.ts";

/** Records up to this size are gone through; of larger ones only the start is looked at. */
const LARGE = 1 << 20;
/** Bytes of a tag and a length. */
const START = 8;

/**
 * What a record seems to be: an example has nothing but features, one behind the other, to its end.
 *
 * @param length Of the record.
 * @param read Reads so many bytes of its start.
 */
export function* kindOf(
  length: number,
  read: (length: number) => Steps<Uint8Array>,
): Steps<RecordKind> {
  if (length === 0) return "records";
  const isWhole = length <= LARGE;
  const bytes = yield* read(isWhole ? length : START);
  try {
    if (isWhole) {
      const { isSequence, hasOthers } = scanExample(bytes);
      if (hasOthers) return "records";
      return isSequence ? "SequenceExamples" : "Examples";
    }
    // The features of one that is this large take it up to its end, if it has no lists.
    const fields = new WireFields(bytes, 0, length);
    const isFeatures = fields.next() && fields.field === 1 && fields.type === 2;
    if (!isFeatures) return "records";
    return fields.end === length ? "Examples" : "SequenceExamples";
  } catch (error) {
    if (error instanceof WireError) return "records";
    throw error;
  }
}
