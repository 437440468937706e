import type { Field } from "../../../tree/samples/samples.ts";
import { typeOf } from "./value_types.ts";
import type { Shard } from "./open_shard.ts";

type Typed = Pick<Shard, "generation" | "keys">;

export function fieldsOf({ generation, keys }: Typed): readonly Field[] {
  return keys.map(({ key, type }) => ({
    name: key,
    type: typeOf(type, generation),
    isList: type.isList,
  }));
}

/** Collects the fields of datapoints across shards: the keys of all shards, if these and their types are the same. */
export class SharedFields {
  #fields: readonly Field[] | undefined;
  #isShared = true;

  /** Fields of the shards added; `undefined` if they differ. */
  get fields(): readonly Field[] | undefined {
    return this.#isShared ? this.#fields : undefined;
  }

  add({ generation, keys }: Typed): void {
    const first = this.#fields ??= fieldsOf({ generation, keys });
    this.#isShared &&= keys.length === first.length &&
      keys.every(({ key, type }, k) =>
        first[k]!.name === key && first[k]!.type.name === type.word &&
        first[k]!.isList === type.isList
      );
  }
}

/** Returns the fields of datapoints of all these shards; `undefined` if they differ. */
export function sharedFields(
  shards: readonly Typed[],
): readonly Field[] | undefined {
  const shared = new SharedFields();
  for (const shard of shards) shared.add(shard);
  return shared.fields;
}
