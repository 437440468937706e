/** Remote containers are converted to the same bytes as local ones, also if they are damaged. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { convert } from "../../src/open/convert/convert.ts";
import { type ConvertOptions } from "../../src/convert/conversion.ts";
import { RecordfsError } from "../../mod.ts";
import { dump } from "../../src/formats/ffrecord/mod.ts";
import { JPEGS } from "../support/gulp/gulp_content.ts";
import { writeChunk } from "../support/gulp/make_gulp.ts";
import { filesBelow } from "../support/bags/naive_bags.ts";
import { fromFileUrl, withTempDir } from "../support/paths.ts";
import { BucketServer } from "../support/remote/bucket_server.ts";
import { FileServer } from "../support/remote/file_server.ts";

const ROOT = fromFileUrl(new URL("../golden/", import.meta.url));

/** Targets, alternating between containers; each conversion reads all of a container. */
const TARGETS: Record<string, readonly ConvertOptions[]> = {
  bag: [{ to: "bag" }],
  bags: [{ to: "bags" }, { to: "gulp" }],
  ffrecord: [{ to: "ffrecord-samples" }, { to: "ffrecord" }],
  granular3: [{ to: "bags", generation: 1 }],
  gulp: [{ to: "gulp" }, { to: "bags", generation: 2 }],
};

const SUFFIX: Record<string, string> = {
  bag: ".bag",
  ffrecord: ".ffr",
  "ffrecord-samples": ".ffr",
};

/**
 * Returns the output of a conversion, or its error.
 *
 * @param root Prefix of the source's path.
 */
async function outcome(
  root: string,
  source: string,
  options: ConvertOptions,
): Promise<unknown> {
  let made: unknown;
  await withTempDir(async (dir) => {
    const warnings: string[] = [];
    const withoutRoot = (message: string) => message.replaceAll(root, "");
    const told = (message: string) => void warnings.push(withoutRoot(message));
    const target = `${dir}/new${SUFFIX[options.to!] ?? ""}`;
    try {
      const report = await convert(root + source, target, {
        ...options,
        lossy: true,
        onWarning: told,
      });
      const { count, leftOut } = report;
      const plan = { ...report.plan, lost: report.plan.lost.map(withoutRoot) };
      const files = [...filesBelow(dir)].map(([name, bytes]) =>
        `${name} ${createHash("sha256").update(bytes).digest("hex")}`
      );
      made = { plan, count, leftOut, files, warnings };
    } catch (error) {
      if (!(error instanceof RecordfsError)) throw error;
      made = error.code;
    }
  });
  return made;
}

for (const [kind, targets] of Object.entries(TARGETS)) {
  Deno.test(`containers of ${kind} over HTTP are converted to the same as on the disk`, async () => {
    await using server = await FileServer.start(ROOT);
    const remote = { cache: false as const, onWarning() {} };
    let converted = 0;
    for (const [i, name] of fs.readdirSync(`${ROOT}${kind}`).entries()) {
      if (name === "hostile_deep") continue; // its paths alone are half a gigabyte
      const options = targets[i % targets.length]!;
      for (const entry of fs.readdirSync(`${ROOT}${kind}/${name}`)) {
        if (entry === "expect.json") continue;
        const place = `${kind}/${name}/${entry}`;
        const local = await outcome(ROOT, place, options);
        const far = { ...options, remote };
        assert.deepEqual(
          await outcome(`${server.url}/`, place, far),
          local,
          `${place} to ${options.to}`,
        );
        if (typeof local !== "string") converted++;
      }
    }
    assert.ok(converted > 0);
  });
}

Deno.test("directories of a bucket are converted, with their labels", async () => {
  await withTempDir(async (dir) => {
    const frames = [JPEGS[0]!, JPEGS[1]!];
    const meta = { label: "z" };
    writeChunk(`${dir}/gulp`, 0, [{ id: "v w/+", frames, meta }]);
    writeChunk(`${dir}/gulp`, 1, [{ id: "ü", frames: [JPEGS[2]!], meta }]);
    fs.writeFileSync(`${dir}/gulp/label2idx.json`, '{"z": 0}');
    await convert(`${dir}/gulp`, `${dir}/data`, { to: "bags", generation: 2 });
    const objects = Object.fromEntries(
      ["gulp", "data"].flatMap((name) =>
        [...filesBelow(`${dir}/${name}`)].map(([file, bytes]) =>
          [`sets/${name}/${file}`, bytes] as const
        )
      ),
    );
    await using server = await BucketServer.start(objects);
    const s3 = { endpoint: server.url, anonymous: true };
    const remote = { s3, cache: { directory: `${dir}/cache` } };
    const convertBoth = async (name: string, options: ConvertOptions) => {
      const [far, near] = [`${dir}/far`, `${dir}/near`];
      await convert(`s3://bucket/sets/${name}`, far, { ...options, remote });
      await convert(`${dir}/${name}`, near, options);
      assert.deepEqual(filesBelow(far), filesBelow(near));
      assert.ok(fs.existsSync(`${far}/label2idx.json`));
      for (const made of [far, near]) fs.rmSync(made, { recursive: true });
    };
    await convertBoth("gulp", { to: "bags", generation: 2 });
    await convertBoth("data", { to: "gulp" });
    await convertBoth("data", { to: "bags", generation: 3 });
    await convertBoth("data", { to: "folder" });
  });
});

Deno.test("values larger than any single request are converted; a target is replaced once everything has arrived", async () => {
  await withTempDir(async (dir) => {
    const samples = [3_000_000, 0, 70_000, 9_000_000].map((length) =>
      new Uint8Array(length).map((_, i) => (i * 2654435761) >>> 13)
    );
    fs.mkdirSync(`${dir}/www`);
    await dump(samples, `${dir}/www/a.ffr`, 1);
    await using server = await FileServer.start(`${dir}/www`);
    const remote = { cache: false as const, timeout: 300, onWarning() {} };
    const target = `${dir}/new.ffr`;
    fs.writeFileSync(target, "old");
    server.fault = ({ range }, response) => {
      const isLater = !range!.startsWith("bytes=0-");
      if (isLater) response.writeHead(500).end();
      return isLater;
    };
    const options = { to: "ffrecord", replace: true, remote };
    await assert.rejects(
      convert(`${server.url}/a.ffr?signature=secret`, target, options),
      (error: Error & { code?: string }) =>
        error.code === "server-failed" && !error.message.includes("secret"),
    );
    assert.equal(fs.readFileSync(target, "utf8"), "old");
    server.fault = undefined;
    const { path, count } = await convert(
      new URL(`${server.url}/a.ffr`),
      target,
      options,
    );
    assert.deepEqual([path, count], [target, 4]);
    await convert(`${dir}/www/a.ffr`, `${dir}/same.ffr`, { to: "ffrecord" });
    assert.ok(
      fs.readFileSync(target).equals(fs.readFileSync(`${dir}/same.ffr`)),
    );
  });
});

Deno.test("folders of files, and targets, must be local", async () => {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www/files`, { recursive: true });
    fs.writeFileSync(`${dir}/www/files/a.txt`, "a");
    await using server = await FileServer.start(`${dir}/www`);
    const remote = { cache: false as const };
    for (const from of [undefined, "folder"]) {
      await assert.rejects(
        convert(`${server.url}/files`, `${dir}/x.ffr`, { from, remote }),
        {
          code: "cannot-convert",
          message: `Cannot convert ${server.url}/files: it is a folder of ` +
            "files, not a container, and is not on this machine. Copy it here",
        },
      );
    }
    await assert.rejects(
      convert(`${dir}/www/files`, `${server.url}/x.ffr`, { remote }),
      { code: "not-local" },
    );
    assert.deepEqual(fs.readdirSync(dir), ["www"]);
  });
});
