import { recordsFrom } from "../../../convert/from/record_list.ts";
import { type ConversionTarget, FILE } from "../../../convert/to/target.ts";
import { TFRecordWriter } from "../write/tfrecord_writer.ts";

/** Anything to a file of records. */
export const tfrecordTarget: ConversionTarget = {
  options: [],
  form: () => FILE,
  async plan(source, target, options) {
    const { list, notes } = await recordsFrom(source, options);
    return {
      from: source.what,
      to: "TFRecord",
      notes,
      unit: "samples",
      total: list.length,
      async write(run) {
        const { signal } = run;
        await using writer = await TFRecordWriter.open(target, { signal });
        for (let i = 0; i < list.length; i++) {
          await writer.write(await list.at(i), { signal });
          run.tell(writer.length);
        }
        await writer.close({ signal });
        return writer.length;
      },
    };
  },
};
