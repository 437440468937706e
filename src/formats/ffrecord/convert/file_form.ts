import type { ConvertOptions } from "../../../convert/conversion.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
  type TargetForm,
} from "../../../convert/to/target.ts";
import { isInParts } from "../write/parts.ts";
import { recordFilePath } from "../write/record_file_path.ts";

/** What a directory of nothing else holds. */
export const FILES_OF_IT: NonNullable<ConversionTarget["content"]> = {
  what: "FFRecord files",
  isOwn: (name) => name.endsWith(".ffr"),
};

/** A file, or a directory of them. */
export function formOfFile(
  path: string,
  { parts }: ConvertOptions,
): TargetForm {
  if (isInParts(path, parts)) return DIRECTORY;
  recordFilePath(path);
  return FILE;
}
