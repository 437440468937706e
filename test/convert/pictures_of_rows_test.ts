/** Pictures in tables of PyArrow, in Arrow and in Parquet: converted, they keep their type and get the same names. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { open } from "../../src/open/open.ts";
import { withTempDir } from "../support/paths.ts";
import { needs } from "../support/programs/programs.ts";
import { pythonLines } from "../support/programs/python.ts";

/** Writes each table as Feather with zstd, as an Arrow stream, and as Parquet with and without statistics. */
const WRITE = `
import io, sys
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
from PIL import Image

def picture(i, kind):
    out = io.BytesIO()
    Image.new('RGB', (8 + i, 8), (40 * i, 90, 0)).save(out, kind)
    return out.getvalue()

count = 4
media = pa.struct([('bytes', pa.binary()), ('path', pa.string())])
jpegs = [picture(i, 'JPEG') for i in range(count)]
pngs = [picture(i, 'PNG') for i in range(count)]
columns = {
    'paths': pa.array([{'bytes': b, 'path': f'{i}.jpg'} for i, b in enumerate(jpegs)], media),
    'pathless': pa.array([{'bytes': b, 'path': None} for b in jpegs], media),
    'plain': pa.array(jpegs, pa.binary()),
    'late': pa.array([None] + pngs[1:], pa.binary()),
    'opaque': pa.array([b'none of any kind'] * count, pa.binary()),
}
for name, column in columns.items():
    table = pa.table({'image': column, 'label': pa.array(range(count), pa.int64())})
    path = f'{sys.argv[1]}/{name}'
    feather.write_feather(table, path + '.feather', compression='zstd')
    with ipc.new_stream(path + '.arrows', table.schema) as out:
        out.write_table(table.slice(0, 0))
        out.write_table(table)
    pq.write_table(table, path + '.parquet')
    pq.write_table(table, path + '-bare.parquet', write_statistics=False)
`;

/** Per table: extension in a tar, encoding in MDS, and type in Bags. */
const EXPECTED: Record<string, readonly [string, string, string]> = {
  paths: ["image.jpg", "jpeg", "jpg"],
  pathless: ["image.jpg", "jpeg", "jpg"],
  plain: ["image.jpg", "jpeg", "jpg"],
  late: ["image.png", "png", "png"],
  opaque: ["image", "bytes", "bytes"],
};

const QUIET = { onWarning() {} };

Deno.test({
  name:
    "pictures of Arrow and of Parquet get the same names and types in a tar, MDS and Bags",
  ...needs("python3", "pyarrow", "pillow"),
  fn: () =>
    withTempDir(async (dir) => {
      await pythonLines(WRITE, "", { args: [dir] });
      for (const [name, [inTar, inMds, inBags]] of Object.entries(EXPECTED)) {
        for (
          const end of [".feather", ".arrows", ".parquet", "-bare.parquet"]
        ) {
          const from = `${dir}/${name}${end}`;
          const to = `${dir}/out${name}${end}`;
          // A null cannot be stored by MDS.
          const options = { ...QUIET, lossy: true };

          await convert(from, `${to}.tar`, options);
          using tar = await open(`${to}.tar`);
          const files = await tar.list("/");
          assert.ok(files.includes(`000001.${inTar}`), `${from}: ${files}`);
          using rows = await open(from);
          const [shown] = await rows.list("/000001");
          assert.equal(shown, inTar, from);
          assert.deepEqual(
            await tar.read(`000001.${inTar}`),
            await rows.read(`000001/${shown}`),
          );

          if (name !== "late") {
            await convert(from, `${to}.mds`, { ...options, to: "mds" });
            const index = `${to}.mds/index.json`;
            const { shards: [shard] } = JSON.parse(
              fs.readFileSync(index, "utf8"),
            );
            assert.equal(shard.column_encodings[0], inMds, from);
          }

          await convert(from, `${to}.bags`, { ...options, to: "bags" });
          const spec = `${to}.bags/spec.json`;
          assert.equal(
            JSON.parse(fs.readFileSync(spec, "utf8")).image,
            inBags,
            from,
          );
        }
      }
    }),
});
