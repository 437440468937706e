import type { CellField, Meaning } from "../../../codecs/cells/cell_field.ts";
import { DEEPEST } from "../layout.ts";
import type { LibraryDecoder, LibraryTree } from "../read/library.ts";

type Element = LibraryTree["element"];
export type StoredType = NonNullable<Element["type"]>;

/** Logical type of newer format versions. */
export type LogicalType =
  | {
    readonly type:
      | "STRING"
      | "MAP"
      | "LIST"
      | "ENUM"
      | "DATE"
      | "NULL"
      | "JSON"
      | "UUID"
      | "FLOAT16";
  }
  | { readonly type: "DECIMAL"; readonly scale: unknown }
  | {
    readonly type: "INTEGER";
    readonly isSigned: boolean;
    readonly bits: unknown;
  }
  | {
    readonly type: "TIME" | "TIMESTAMP";
    readonly digits: number;
    readonly utc: boolean;
  };

/** Node of the schema tree in a footer. Sizes may be of any Thrift type. */
export interface SchemaElement {
  readonly name: string;
  readonly type: StoredType | undefined;
  readonly length: unknown;
  /** REQUIRED if missing. */
  readonly repetition: SchemaField["repetition"] | undefined;
  readonly children: unknown;
  /** Legacy converted type. */
  readonly converted: string | undefined;
  readonly scale: unknown;
  readonly logical: LogicalType | undefined;
}

/** Column or part of one, as plain data. */
export interface SchemaField extends CellField {
  /** Physical type, if it has no parts. */
  readonly type: StoredType | undefined;
  /** Bytes of a fixed-size value. */
  readonly length: number | undefined;
  readonly parts: readonly SchemaField[];
  /** Index of its first leaf among those of all columns, and number of its leaves. */
  readonly leaf: number;
  readonly leaves: number;
}

/** Fault of a schema. Callers that know the file convert it to a {@linkcode FormatError}. */
export class BadSchema extends Error {}

/** Builds columns from the elements of a footer, which are the schema tree in depth-first order. */
export function fieldsOf(
  elements: readonly SchemaElement[],
): readonly SchemaField[] {
  let at = 1;
  let leaf = 0;
  const parts = (count: unknown, depth: number): SchemaField[] => {
    if (!isSize(count)) throw new BadSchema("has a wrong number of columns");
    if (depth > DEEPEST) {
      throw new BadSchema(`has columns that are nested deeper than ${DEEPEST}`);
    }
    const fields: SchemaField[] = [];
    for (let i = 0; i < count; i++) {
      const element = elements[at++];
      if (element === undefined) {
        throw new BadSchema("ends within its columns");
      }
      fields.push(field(element, depth));
    }
    return fields;
  };
  const field = (element: SchemaElement, depth: number): SchemaField => {
    const { name, type, children = 0, repetition = "REQUIRED" } = element;
    const { length, scale = 0 } = element;
    if (!isSize(length ?? 0) || !isSize(scale) || !isSize(children)) {
      throw new BadSchema(`has a column '${name}' of no size`);
    }
    const first = leaf;
    const isLeaf = type !== undefined;
    if (isLeaf === children > 0) {
      throw new BadSchema(
        `has a column '${name}' with neither parts nor values, or with both`,
      );
    }
    if (isLeaf) leaf++;
    const within = isLeaf ? [] : parts(children, depth + 1);
    return {
      name,
      repetition,
      meaning: isLeaf ? meaningOf(element, type) : groupOf(element),
      type,
      length: length as number | undefined,
      parts: within,
      leaf: first,
      leaves: leaf - first,
    };
  };
  const [root] = elements;
  if (root === undefined) {
    throw new BadSchema("has no root element");
  }
  const fields = parts(root.children ?? 0, 1);
  if (at !== elements.length) {
    throw new BadSchema(
      `has ${elements.length - at} columns without a parent`,
    );
  }
  return fields;
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && value as number >= 0;
}

function groupOf(element: SchemaElement): Meaning {
  const { converted, logical } = element;
  if (converted === "LIST" || logical?.type === "LIST") return { is: "list" };
  const isMap = converted === "MAP" ||
    converted === "MAP_KEY_VALUE" || logical?.type === "MAP";
  return { is: isMap ? "map" : "group" };
}

function meaningOf(element: SchemaElement, type: StoredType): Meaning {
  const { converted, logical } = element;
  const isInteger = type === "INT32" || type === "INT64";
  const isBytes = type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY";
  if (logical?.type === "NULL") return { is: "null" };
  if (logical?.type === "DECIMAL" || converted === "DECIMAL") {
    const scale = element.scale ??
      (logical?.type === "DECIMAL" ? logical.scale : 0);
    if (!Number.isInteger(scale)) {
      throw new BadSchema(
        `has a column '${element.name}' of decimal numbers without a precision`,
      );
    }
    if (isInteger || isBytes) {
      return { is: "decimal", scale: scale as number };
    }
  }
  if (isBytes) {
    if (logical?.type === "JSON" || converted === "JSON") return { is: "json" };
    if (logical?.type === "FLOAT16" && element.length === 2) {
      return { is: "half" };
    }
    if (logical?.type === "UUID" && element.length === 16) {
      return { is: "uuid" };
    }
    const isText = logical?.type === "STRING" || logical?.type === "ENUM" ||
      converted === "UTF8" || converted === "ENUM";
    if (isText) return { is: "text" };
    const isFixed = type === "FIXED_LEN_BYTE_ARRAY";
    return {
      is: "bytes",
      length: isFixed ? element.length as number | undefined : undefined,
    };
  }
  if (type === "BOOLEAN") return { is: "boolean" };
  if (type === "FLOAT" || type === "DOUBLE") {
    return { is: "float", bits: type === "FLOAT" ? 32 : 64 };
  }
  if (type === "INT96") return { is: "int96" };
  if (logical?.type === "DATE" || converted === "DATE") return { is: "date" };
  if (logical?.type === "TIME" || logical?.type === "TIMESTAMP") {
    const is = logical.type === "TIME" ? "time" : "timestamp";
    return { is, digits: logical.digits, utc: logical.utc };
  }
  const time = /^(TIME|TIMESTAMP)_(MILLIS|MICROS)$/.exec(converted ?? "");
  if (time !== null) {
    const is = time[1] === "TIME" ? "time" : "timestamp";
    return { is, digits: time[2] === "MILLIS" ? 3 : 6, utc: true };
  }
  const unsigned = logical?.type === "INTEGER"
    ? !logical.isSigned
    : converted?.startsWith("UINT_") === true;
  const stored = type === "INT64" ? 64 : 32;
  const bits = logical?.type === "INTEGER"
    ? logical.bits
    : Number(/^U?INT_(\d+)$/.exec(converted ?? "")?.[1]);
  const isNarrow = stored === 32 && (bits === 8 || bits === 16);
  return { is: "integer", unsigned, bits: isNarrow ? bits : stored };
}

/** Leaf in the form that the library needs. */
export interface Leaf {
  readonly field: SchemaField;
  /** Types as which the library decodes its values. */
  readonly stored: {
    readonly type: StoredType;
    readonly length: number | undefined;
    /** For pages whose levels are already decoded. */
    readonly decoder: LibraryDecoder;
  };
  /** Nodes from the root to the leaf. */
  readonly schemaPath: LibraryTree[];
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  /** Key by which the library assembles a column from its leaves. */
  readonly path: string;
}

/** Column in the form that the library needs. Parts are named by index, because names may be arbitrary and repeat. */
export interface LibraryColumn {
  readonly tree: LibraryTree;
  readonly leaves: readonly Leaf[];
  /** Whether each row has at most one value, without nesting. */
  readonly isFlat: boolean;
}

/** Describes a column's physical types to the library. Their meaning is applied later. */
export function libraryColumn(column: SchemaField): LibraryColumn {
  const leaves: Leaf[] = [];
  const root: LibraryTree = {
    element: { name: "", repetition_type: "REQUIRED", num_children: 1 },
    children: [],
    count: 1,
    path: [],
  };
  const treeOf = (
    field: SchemaField,
    number: number,
    above: readonly LibraryTree[],
  ): LibraryTree => {
    const element: Element = {
      name: String(number),
      "repetition_type": field.repetition,
      ...field.type === undefined
        ? { num_children: field.parts.length }
        : { type: field.type },
      ...field.length === undefined ? {} : { type_length: field.length },
    };
    const path = [...above.at(-1)!.path, element.name];
    const tree: LibraryTree = { element, children: [], count: 1, path };
    const schemaPath = [...above, tree];
    tree.children = field.parts.map((part, i) => treeOf(part, i, schemaPath));
    if (field.type !== undefined) leaves.push(leafOf(field, schemaPath));
    return tree;
  };
  const tree = treeOf(column, 0, [root]);
  const isFlat = column.type !== undefined && column.repetition !== "REPEATED";
  return { tree, leaves, isFlat };
}

function leafOf(field: SchemaField, schemaPath: LibraryTree[]): Leaf {
  const { path } = schemaPath.at(-1)!;
  const repetitions = schemaPath.map(({ element }) => element.repetition_type);
  // The library loses the days of an INT96 with negative nanoseconds.
  const isInt96 = field.type === "INT96";
  const type = isInt96 ? "FIXED_LEN_BYTE_ARRAY" : field.type!;
  const length = isInt96 ? 12 : field.length;
  const decoder = {
    element: length === undefined ? {} : { type_length: length },
    schemaPath: [],
    type,
  } as unknown as LibraryDecoder;
  return {
    field,
    stored: { type, length, decoder },
    schemaPath,
    maxDefinition: repetitions.filter((one) => one !== "REQUIRED").length,
    maxRepetition: repetitions.filter((one) => one === "REPEATED").length,
    path: path.join("."),
  };
}
