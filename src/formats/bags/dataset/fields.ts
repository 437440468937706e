import type { Field } from "../../../tree/samples/samples.ts";
import { typeOf } from "./value_types.ts";
import type { Shard } from "./open_shard.ts";

/** What a shard says of its datapoints. */
type Typed = Pick<Shard, "generation" | "keys">;

/** The fields of a shard's datapoints. */
export function fieldsOf({ generation, keys }: Typed): readonly Field[] {
  return keys.map(({ key, type }) => ({
    name: key,
    type: typeOf(type, generation),
    isList: type.isList,
  }));
}

/** The fields of datapoints: the keys of all shards, as far as their types are the same. */
export class SharedFields {
  #fields: readonly Field[] | undefined;
  #isShared = true;

  /** The fields of the shards that were added; `undefined` where their types differ. */
  get fields(): readonly Field[] | undefined {
    return this.#isShared ? this.#fields : undefined;
  }

  /** Adds a shard. */
  add({ generation, keys }: Typed): void {
    const first = this.#fields ??= fieldsOf({ generation, keys });
    this.#isShared &&= keys.length === first.length &&
      keys.every(({ key, type }, k) =>
        first[k]!.name === key && first[k]!.type.name === type.word &&
        first[k]!.isList === type.isList
      );
  }
}

/** The fields of datapoints of all these shards; `undefined` where their types differ. */
export function sharedFields(
  shards: readonly Typed[],
): readonly Field[] | undefined {
  const shared = new SharedFields();
  for (const shard of shards) shared.add(shard);
  return shared.fields;
}
