import { utf8Text } from "../../../base/utf8.ts";
import { formatJson } from "../../../codecs/json/format.ts";
import { jsonMembers } from "../../../codecs/json/parts.ts";
import type { ExactJson } from "../../../codecs/json/value.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import type { ByteSource } from "../../../io/storage/byte_source.ts";
import { flatLayout } from "../../../tree/records/flat_layout.ts";
import {
  RecordTree,
  type RecordTreeOptions,
  type RecordTreeSeed,
} from "../../../tree/records/record_tree.ts";
import type { Tree, TreeHandle } from "../../../tree/tree.ts";
import type { MemberFile } from "../../../tree/records/member_samples.ts";
import { RowTable } from "../read/row_samples.ts";
import { loadParser } from "../read/survey_rows.ts";

/** Data from which another thread rebuilds a tree. */
interface Seed extends RecordTreeSeed<MemberFile> {
  readonly kind: string;
  readonly decoded: boolean;
}

/** Rows as files, or decoded as directories of their fields. */
export class RowFileTree extends RecordTree<MemberFile> {
  readonly #own: Pick<Seed, "decoded" | "kind">;

  /** @param sources Empty in a thread that did not open them. */
  constructor(
    sources: readonly ByteSource[],
    rows: RowTable,
    options: RecordTreeOptions,
    decoded: boolean,
  ) {
    const { kind: { name: kind, delimiter }, fields } = rows;
    const layOut = (row: number, bytes: Uint8Array) => {
      const members = rows.decode(row, bytes);
      const texts = delimiter === undefined ? jsonMembers(bytes) : undefined;
      const jsonOf = (name: string, value: ExactJson) =>
        delimiter === undefined
          ? texts?.get(name) ?? utf8Text(bytes)
          : formatJson(value);
      return flatLayout(fields, members, jsonOf, bytes.length);
    };
    super(sources, rows, options, decoded ? layOut : undefined);
    this.#own = { kind, decoded };
  }

  share(): TreeHandle {
    const seed: Seed = { ...this.seed(), ...this.#own };
    return { module: import.meta.url, data: seed };
  }
}

/** Rebuilds a shared tree in another thread, over the same tables. Decoded trees open the files again. */
export async function reopenTree(data: unknown): Promise<Tree> {
  const { files, kind, decoded, ...options } = data as Seed;
  const table = new RowTable(kind, files);
  await runAsync(loadParser(table.kind, table.name));
  return new RowFileTree([], table, options, decoded);
}
