/** Python reads files that the library wrote; in the recipes, the library reads Python's. */
import assert from "node:assert/strict";
import { FFRecordWriter, writePickle } from "../../src/formats/ffrecord/mod.ts";
import { withTempDir } from "../support/paths.ts";
import { needs, PYTHON } from "../support/programs/programs.ts";

/** Reads a file by the format's description, and unpickles each sample. */
const READER = `
import pickle, struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
crc, n = struct.unpack_from('<Iq', data)
assert crc == zlib.crc32(data[4:12 + 12 * n])
crcs = struct.unpack_from(f'<{n}I', data, 12)
offsets = struct.unpack_from(f'<{n}q', data, 12 + 4 * n) + (len(data),)
for i in range(n):
    sample = data[offsets[i]:offsets[i + 1]]
    assert crcs[i] == zlib.crc32(sample)
    print(pickle.loads(sample))
`;

for (const count of [undefined, 3]) {
  Deno.test({
    name: count === undefined
      ? "Python unpickles samples (needs python3)"
      : "Python unpickles samples whose number was known (needs python3)",
    ...needs("python3"),
    async fn() {
      await withTempDir(async (dir) => {
        await using writer = await FFRecordWriter.open(`${dir}/a.ffr`, {
          count,
        });
        await writer.write(writePickle({ label: 7, box: [1, 2.5, null] }));
        await writer.write(writePickle(new Map([[1n << 70n, "Zoë"]])));
        await writer.write(writePickle(Uint8Array.of(0, 255)));
        await writer.close();

        const { code, stdout } = await new Deno.Command(PYTHON, {
          args: ["-c", READER, `${dir}/a.ffr`],
          env: { PYTHONIOENCODING: "utf-8" },
        }).output();
        assert.equal(code, 0);
        assert.deepEqual(new TextDecoder().decode(stdout).split("\n"), [
          "{'label': 7, 'box': [1, 2.5, None]}",
          "{1180591620717411303424: 'Zoë'}",
          "b'\\x00\\xff'",
          "",
        ]);
      });
    },
  });
}
