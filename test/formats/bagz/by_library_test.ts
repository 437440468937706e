/** Files of the original library, with its options at random: what it reads of them is what recordfs reads. */
import assert from "node:assert/strict";
import { openSamples } from "../../../mod.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { pythonLines } from "../../support/programs/python.ts";
import { sha256 } from "../../support/golden.ts";

/** Writes containers, and prints the target, the layout, and the hashes of its records as the library reads them. */
const SCRIPT = `
import bagz, hashlib, json, random, sys
random.seed(7)
for case in range(30):
    suffix = random.choice(["bag", "bagz"])
    count = random.randint(1, 4)
    by_turns = random.random() < 0.5
    limits = random.choice([bagz.LimitsPlacement.TAIL, bagz.LimitsPlacement.SEPARATE])
    records = [random.randbytes(random.choice([0, 1, 30, 3000])) * random.choice([1, 40]) for _ in range(random.randint(0, 40))]
    for i in range(count):
        own = records[i::count] if by_turns else records[len(records) * i // count : len(records) * (i + 1) // count]
        path = f"{sys.argv[1]}/{case}-0000{i}-of-0000{count}.{suffix}"
        with bagz.Writer(path, bagz.Writer.Options(limits_placement=limits)) as writer:
            for record in own:
                writer.write(record)
    layout = bagz.ShardingLayout.INTERLEAVED if by_turns else bagz.ShardingLayout.CONCATENATED
    spec = f"{sys.argv[1]}/{case}@{count}.{suffix}"
    reader = bagz.Reader(spec, bagz.Reader.Options(limits_placement=limits, sharding_layout=layout))
    indices = [random.randrange(len(reader)) for _ in range(20)] if len(reader) else []
    chosen = [hashlib.sha256(record).hexdigest() for record in reader.read_indices(indices)]
    print(json.dumps([spec, by_turns, indices, chosen, len(reader)]))
`;

type Case = readonly [
  spec: string,
  byTurns: boolean,
  indices: readonly number[],
  hashes: readonly string[],
  length: number,
];

Deno.test({
  name:
    "records are those that the library reads, in either layout, with either limits",
  ...needs("bagz"),
  fn: () =>
    withTempDir(async (dir) => {
      const cases = await pythonLines(SCRIPT, "", { args: [dir] }) as Case[];
      assert.equal(cases.length, 30);
      for (const [spec, byTurns, indices, hashes, length] of cases) {
        const format = byTurns ? "bagz-interleaved" : "bagz";
        using samples = await openSamples(spec, { format });
        assert.equal(samples.length, length, spec);
        const read = await samples.read(indices);
        const contents = read.map(({ content }) => content as Uint8Array);
        assert.deepEqual(contents.map(sha256), hashes, spec);
        const [first] = indices;
        if (first === undefined) continue;
        const { content } = samples.readSync(first);
        assert.equal(sha256(content as Uint8Array), hashes[0]);
      }
    }),
});
