import {
  type Conversion,
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import { runAsync } from "../../../io/concurrency/steps.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import type { Column } from "../../../tree/field_shards/shard_index.ts";
import type { FieldBytes } from "../../../tree/field_shards/field_samples.ts";
import { SIZE_LIMIT } from "../write/mds_writer.ts";
import { ShardsOutput } from "../write/shards_output.ts";
import type { MdsSource } from "./source.ts";

/** Plans a conversion that copies the values' bytes; `undefined` if shards have different columns. */
export function betweenMds(
  source: MdsSource,
  target: string,
  options: ConvertOptions,
): Conversion | undefined {
  const stored = source.stored();
  if (stored === undefined) return undefined;
  const { columns, rows } = stored;
  const notes = new PlanNotes();
  notes.kept.push("values as bytes, columns, the order of samples");
  notes.changed.push(source.checksumChange, "shards get other boundaries");
  return {
    from: source.what,
    to: "MDS, not compressed",
    notes,
    unit: "samples",
    total: rows.length,
    write: (run) =>
      NewDirectory.write(target, run.signal, async (temporary) => {
        const output = new ShardsOutput(temporary, target, {
          columns,
          sizeLimit: options.shardSize ?? SIZE_LIMIT,
          shardLength: options.shardLength ?? Infinity,
        });
        try {
          await copySamples(rows, columns, output, run);
          return output.length;
        } finally {
          output.close();
        }
      }),
  };
}

async function copySamples(
  rows: NonNullable<ReturnType<MdsSource["stored"]>>["rows"],
  columns: readonly Column[],
  output: ShardsOutput,
  run: Run,
): Promise<void> {
  const { signal } = run;
  const onDamage = (error: Error) => run.leaveOut(error.message, error);
  for await (const { values } of rows.read({ signal }, onDamage)) {
    const sample = columns.map(({ name }) => (values as FieldBytes)[name]!);
    await runAsync(output.append(sample), signal);
    run.tell(output.length);
  }
  await runAsync(output.finish(), signal);
}
