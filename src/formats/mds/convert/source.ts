import { FieldsSource } from "../../../convert/from/fields_source.ts";
import { SampleRows } from "../../../convert/samples/sample_rows.ts";
import type { SampleValues } from "../../../tree/samples/samples.ts";
import type { VirtualFs } from "../../../tree/vfs/virtual_fs.ts";
import type { Column } from "../../../tree/field_shards/shard_index.ts";
import type { FieldSamples } from "../../../tree/field_shards/field_samples.ts";

/** Dataset to convert. */
export class MdsSource extends FieldsSource {
  override readonly checksumChange =
    "hashes of shards are not verified, except by recordfs check";

  constructor(container: VirtualFs) {
    super(container, "MDS");
  }

  /** Returns the stored samples and their columns; `undefined` if shards have different columns. */
  stored():
    | { readonly columns: readonly Column[]; readonly rows: SampleRows }
    | undefined {
    const samples = this.container.samples as FieldSamples;
    const { fields } = samples;
    if (fields === undefined) return undefined;
    const rows = new SampleRows(
      samples,
      {
        fields,
        isNullable: false,
        read: (indices, options) => samples.read(indices, options),
        decode: (_, values) => values as SampleValues,
      },
      this.path,
      this.sampleIndices,
    );
    return { columns: fields, rows };
  }
}
