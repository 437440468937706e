/**
 * Program that takes 2 GB of batches and recycles none. Prints its peak memory in megabytes.
 */
import { FFRecordWriter } from "../../../src/formats/ffrecord/mod.ts";
import { DataLoader, FFRecordDataset } from "../../../src/open/data/mod.ts";
import { withTempDir } from "../../support/paths.ts";

await withTempDir(async (dir) => {
  const path = `${dir}/samples.ffr`;
  await using writer = await FFRecordWriter.open(path, { count: 8 });
  for (let i = 0; i < 8; i++) await writer.write(new Uint8Array(1 << 20));
  await writer.close();
  using dataset = await FFRecordDataset.open(path);
  await using loader = new DataLoader(dataset, {
    batchSize: 8,
    sampler: Array.from({ length: 2000 }, (_, i) => i % 8),
    numWorkers: 2,
  });
  let most = 0;
  for await (const _ of loader) {
    const status = await Deno.readTextFile("/proc/self/status");
    const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(status)!;
    most = Math.max(most, Number(kilobytes) / 1000);
  }
  Deno.stdout.writeSync(new TextEncoder().encode(`${Math.round(most)}`));
});
