import type { Members } from "../../codecs/rows/decode_row.ts";
import { valueView } from "../node_view.ts";
import type { CountedFields } from "../samples/field_census.ts";
import { fieldNames } from "../samples/field_names.ts";
import type { NamedNode, RecordLayout } from "./record_layout.ts";

/** Approximate size of a node in bytes. */
const NODE_WEIGHT = 250;

/**
 * Lays out a record as files of its fields: texts as they are, other values as JSON on a line, and an empty file for a
 * null among texts.
 *
 * @param jsonOf Returns the JSON of a field that is no text, as it is written.
 * @param weight Approximate size of its values in bytes.
 */
export function flatLayout(
  counted: CountedFields,
  members: Members,
  jsonOf: (name: string, value: Members[number][1]) => string,
  weight: number,
): RecordLayout {
  const fields = members.map(([name, value]) => ({
    name,
    type: counted.typeOf(name, value),
    isList: false,
  }));
  const { bytes: names, byName } = fieldNames(fields);
  const nodes: NamedNode[] = [{
    name: new Uint8Array(0),
    parent: 0,
    children: new Map([...byName].map(([name, field]) => [name, field + 1])),
    content: undefined,
  }];
  for (const [i, [name, value]] of members.entries()) {
    const isText = fields[i]!.type.kind === "text";
    const make = () =>
      new TextEncoder().encode(
        isText ? String(value ?? "") : `${jsonOf(name, value)}\n`,
      );
    const content = { kind: "made", make } as const;
    nodes.push({ name: names[i]!, parent: 0, children: undefined, content });
  }
  return {
    nodes,
    lists: [],
    length: nodes.length,
    weight: NODE_WEIGHT * nodes.length + weight,
    view(node) {
      const field = fields[node - 1];
      if (field === undefined) return undefined;
      const isNull = () => members[node - 1]![1] === null;
      return valueView(field.type, { key: field.name, isNull });
    },
  };
}
