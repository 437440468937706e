import assert from "node:assert/strict";
import {
  imageCodec,
  type ImageCodecName,
} from "../../../src/codecs/image/mod.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

const MODULE = new URL("src/codecs/image/mod.ts", `file://${REPOSITORY}`).href;

const PROGRAM = `
import { imageCodec } from ${JSON.stringify(MODULE)};
try {
  const codec = await imageCodec(Deno.args[0]);
  const data = new Uint8Array(60).fill(9);
  const jpeg = await codec.encode({ data, height: 5, width: 4, channels: 3 });
  const { width } = await codec.decode(jpeg);
  const resized = await codec.jpegFromImageFile(jpeg, { shortEdge: 2 });
  console.log(codec.name, width, (await codec.decode(resized)).height);
} catch (error) {
  console.log(error.name, error.code, error.message);
}`;

/** Runs the program with these permissions; returns its output. */
async function choose(name: string, ...permissions: string[]): Promise<string> {
  let said = "";
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/main.ts`, PROGRAM);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--no-check", "--frozen"],
        ...["--config", `${REPOSITORY}deno.json`, ...permissions],
        ...[`${dir}/main.ts`, name],
      ],
    }).output();
    const decoder = new TextDecoder();
    said = decoder.decode(stdout).trim() || decoder.decode(stderr);
  });
  return said;
}

Deno.test("imagescript needs only permission to read files", async () => {
  assert.equal(await choose("imagescript", "--allow-read"), "imagescript 4 2");
});

Deno.test("auto chooses turbojpeg if native code may run, else imagescript", async () => {
  const native = ["--allow-read", "--allow-env", "--allow-ffi"];
  assert.equal(await choose("auto", ...native), "turbojpeg 4 2");
  for (const missing of [1, 2]) {
    const some = native.filter((_, i) => i !== missing);
    assert.equal(await choose("auto", ...some), "imagescript 4 2");
  }
});

Deno.test("auto warns once what is missing and what it costs; a codec chosen by name does not", async () => {
  const program = `
import { imageCodec } from ${JSON.stringify(MODULE)};
await imageCodec(Deno.args[0]);
await imageCodec(Deno.args[0]);`;
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/main.ts`, program);
    const warned = async (name: string, ...permissions: string[]) => {
      const { stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-prompt", "--no-check", "--frozen"],
          ...["--config", `${REPOSITORY}deno.json`, ...permissions],
          ...[`${dir}/main.ts`, name],
        ],
        env: { DENO_LOG: "warn" },
      }).output();
      return new TextDecoder().decode(stderr);
    };
    assert.equal(
      await warned("auto", "--allow-read"),
      "recordfs: decoding JPEGs takes six times as long as it could, with the codec 'imagescript': 'turbojpeg' needs " +
        "--allow-ffi, --allow-env and --allow-read\n",
    );
    assert.equal(await warned("imagescript", "--allow-read"), "");
    assert.equal(await warned("auto", "-A"), "");
  });
});

Deno.test("a codec that may not be loaded names the permission that it needs", async () => {
  assert.match(
    await choose("sharp", "--allow-read"),
    /^ImageError codec-unavailable .*'sharp'.*--allow-ffi, --allow-env and --allow-read/,
  );
  assert.match(
    await choose("imagescript"),
    /^ImageError codec-unavailable .*'imagescript'.*--allow-read/,
  );
});

Deno.test("codecs are loaded once; unknown names are rejected", async () => {
  for (const name of ["imagescript", "sharp", "turbojpeg"] as const) {
    assert.equal(await imageCodec(name), await imageCodec(name));
  }
  await assert.rejects(() => imageCodec("gd" as ImageCodecName), {
    name: "RangeError",
    message: /one of turbojpeg, sharp, imagescript, not 'gd'/,
  });
});

Deno.test("without fetched packages, gulped videos can be read, and codecs report what they need", async () => {
  await withTempDir(async (dir) => {
    await Deno.writeTextFile(`${dir}/list.csv`, "1;a\n");
    await Deno.writeTextFile(
      `${dir}/main.ts`,
      `
import { imageCodec } from "${MODULE}";
import { Custom20BNCsvWebmAdapter, GulpDirectory } from "${REPOSITORY}src/formats/gulp/mod.ts";
using directory = await GulpDirectory.open("${REPOSITORY}test/golden/gulp/v2_chunks/gulp", { decode: false });
const [id] = directory.mergedMetaDict.keys();
console.log((await directory.get(id!)).frames.length);
const options = { csvFile: "${dir}/list.csv", folder: "${dir}" };
for (const load of [() => imageCodec(), () => Custom20BNCsvWebmAdapter.open(options)]) {
  console.log(await load().catch(({ name, message }) => name + ": " + message));
}`,
    );
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", "--frozen", "--cached-only"],
        ...["--config", `${REPOSITORY}deno.json`, `${dir}/main.ts`],
      ],
      env: { DENO_DIR: `${dir}/cache` },
    }).output();
    const decoder = new TextDecoder();
    const [frames, codec, csv] = decoder.decode(stdout).split("\n");
    assert.ok(Number(frames) > 0, decoder.decode(stderr));
    assert.match(
      codec!,
      /^ImageError: .*'imagescript', .*downloaded from npm once/,
    );
    assert.match(
      csv!,
      /^RecordfsError: .*csv-parse, which is downloaded from npm once/,
    );
  });
});
