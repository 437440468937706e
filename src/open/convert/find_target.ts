import { formats, loadFormat } from "../../formats/registry.ts";
import { type NamedOption, optionText } from "../../base/named_option.ts";
import {
  ConversionError,
  type ConvertOptions,
} from "../../convert/conversion.ts";
import { FOLDER } from "./open_source.ts";
import type { ConversionSource } from "../../convert/from/source.ts";
import { folderTarget } from "../../convert/to/folder.ts";
import type { ConversionTarget, TargetName } from "../../convert/to/target.ts";

const TO: NamedOption = { name: "to" };

const TO_FOLDER: TargetName = { name: FOLDER, suffix: "/" };

export function targetNames(): TargetName[] {
  return [...formats().flatMap(({ targets = [] }) => targets), TO_FOLDER];
}

/**
 * Returns the target given by the option `to`, or else by the suffix of the destination. Throws if neither names one.
 */
export async function targetOf(
  { isNumbered, path }: ConversionSource,
  target: string,
  { to }: ConvertOptions,
): Promise<{ readonly name: string; readonly target: ConversionTarget }> {
  const bad = (what: string, options: readonly NamedOption[] = []) =>
    new ConversionError("bad-option", what, path, [], undefined, options);
  const all = targetNames();
  const name = to ??
    all.find(({ suffix, ofNumbered = isNumbered }) =>
      suffix !== undefined && target.endsWith(suffix) &&
      ofNumbered === isNumbered
    )?.name;
  if (name === FOLDER) return { name, target: folderTarget };
  for (const entry of formats()) {
    if (!entry.targets?.some((target) => target.name === name)) continue;
    const format = await loadFormat(entry);
    return { name: name!, target: await format.target!(name!) };
  }
  if (to !== undefined) {
    throw bad(`Cannot convert ${path} to '${to}': there is no such target`);
  }
  const suffixes = new Set(all.map(({ suffix }) => suffix));
  const known = [...suffixes].filter((suffix) => suffix && suffix !== "/");
  throw bad(
    `Cannot convert ${path}: the name ${target} does not give the target format. End it in ${
      known.join(", ")
    } or a slash, or give the format with ${optionText(TO)}`,
    [TO],
  );
}
