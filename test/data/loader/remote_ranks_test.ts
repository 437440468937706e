/** Four training processes, each with a rank of its own, read one container in a bucket. */
import assert from "node:assert/strict";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { BucketServer } from "../../support/remote/bucket_server.ts";
import { below } from "../support/batches.ts";

const RANKS = 4;
const LENGTH = 1003;
const EPOCHS = 2;

/** Samples of various lengths that begin with their index. */
const SAMPLES = below(LENGTH).map((i) => {
  const bytes = new Uint8Array(4 + i % 700);
  new DataView(bytes.buffer).setUint32(0, i);
  return bytes;
});

const PROGRAM = `
import { DataLoader, FFRecordDataset } from "${REPOSITORY}src/open/data/mod.ts";

const [endpoint, directory, rank, numWorkers] = Deno.args;
const cache = directory === "" ? false : { directory };
using dataset = await FFRecordDataset.open("s3://bucket/x.ffr", {
  remote: { s3: { endpoint }, cache },
});
const options = {
  batchSize: 16, shuffle: true, seed: 5, worldSize: ${RANKS},
  rank: Number(rank), numWorkers: Number(numWorkers),
};
await using loader = new DataLoader(dataset, options);
for (let epoch = 0; epoch < ${EPOCHS}; epoch++) {
  loader.setEpoch(epoch);
  const seen = [];
  for await (const batch of loader) {
    for (const bytes of batch) {
      seen.push(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0));
    }
  }
  console.log(seen.join());
}
`;

Deno.test("four processes with a rank each read every sample of a bucket's container once per epoch", async () => {
  await withTempDir(async (dir) => {
    await using server = await BucketServer.start({
      "x.ffr": ffrBytes(SAMPLES),
    });
    server.keys = { accessKeyId: "AKID", secretAccessKey: "hidden" };
    await Deno.writeTextFile(`${dir}/program.ts`, PROGRAM);
    const ranks = await Promise.all(
      below(RANKS).map(async (rank) => {
        // As on one machine, as on separate machines, and without a disk cache; also with threads.
        const cache = ["shared", "shared", "own", ""][rank]!;
        const { success, stdout, stderr } = await new Deno.Command(
          Deno.execPath(),
          {
            args: [
              ...["run", "-A", "--no-check", "--quiet"],
              ...["--config", `${REPOSITORY}deno.json`, `${dir}/program.ts`],
              ...[server.url, cache && `${dir}/${cache}`],
              ...[String(rank), rank === 1 ? "1" : "0"],
            ],
            env: {
              AWS_ACCESS_KEY_ID: server.keys!.accessKeyId,
              AWS_SECRET_ACCESS_KEY: server.keys!.secretAccessKey,
            },
          },
        ).output();
        const decoder = new TextDecoder();
        assert.ok(success, decoder.decode(stderr));
        return decoder.decode(stdout).trim().split("\n")
          .map((line) => line.split(",").map(Number));
      }),
    );
    const orders = below(EPOCHS).map((epoch) =>
      ranks.flatMap((epochs) => epochs[epoch]!)
    );
    for (const order of orders) {
      assert.deepEqual(order.toSorted((a, b) => a - b), below(LENGTH));
    }
    assert.notDeepEqual(orders[0], orders[1]);
    for (const epochs of ranks) {
      assert.ok(epochs[0]!.length >= Math.floor(LENGTH / RANKS));
    }
  });
});
