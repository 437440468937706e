import { FormatError } from "../../base/errors.ts";
import { VALUE_TYPES, type ValueType } from "../../codecs/values/value_type.ts";
import type { Field } from "./samples.ts";

/** Union of the fields of samples that differ in their fields, in order of first occurrence. */
export class FieldUnion {
  readonly #path: string;
  readonly #fields = new Map<string, { field: Field; samples: number }>();

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Adds the fields of some samples.
   *
   * @param samples Number of samples with these fields.
   * @throws {FormatError} With code `unsupported` if other samples have a field of that name and an incompatible type.
   */
  add(fields: readonly Field[], samples: number): void {
    for (const field of fields) {
      const known = this.#fields.get(field.name);
      if (known === undefined) {
        this.#fields.set(field.name, { field, samples });
        continue;
      }
      known.samples += samples;
      const { name, type, isList } = known.field;
      if (type.name === field.type.name && isList === field.isList) continue;
      const wider = widerType(type, field.type);
      if (wider !== undefined && !isList && !field.isList) {
        known.field = { name, type: wider, isList };
        continue;
      }
      throw new FormatError(
        "unsupported",
        `Cannot read all samples of ${this.#path} at once: '${field.name}' ` +
          `is ${wordOf(field)} in some, and ${
            wordOf(known.field)
          } in others. ` + "Open one shard at a time",
        { path: this.#path },
      );
    }
  }

  get fields(): Field[] {
    return [...this.#fields.values()].map(({ field }) => field);
  }

  missing(length: number): Map<string, number> {
    return new Map(
      [...this.#fields].map(([name, { samples }]) => [name, length - samples]),
    );
  }
}

/** Returns the number type that holds both types; `undefined` if either is not a number. */
function widerType(a: ValueType, b: ValueType): ValueType | undefined {
  const scalars = [a.scalar, b.scalar];
  if (scalars.some((one) => one === undefined || one === "bool")) {
    return undefined;
  }
  if (scalars.some((one) => one!.startsWith("float"))) {
    return { ...VALUE_TYPES.number, name: "float64", scalar: "float64" };
  }
  const isLarge = scalars.includes("int") || scalars.includes("uint64");
  const scalar = isLarge ? "int" : "int64";
  return { ...VALUE_TYPES.number, name: scalar, scalar };
}

function wordOf({ type, isList }: Field): string {
  return isList ? `a list of ${type.name}` : type.name;
}
