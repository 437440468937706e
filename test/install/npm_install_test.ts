/**
 * The package installed by npm itself. Needs npm and its registry, and so only runs in `deno task test:all` and in a
 * separate step of CI. launcher_test.ts covers what does not need npm.
 */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { buildPackage } from "../../packaging/package/build_package.ts";
import { LONG } from "../support/long.ts";
import { needs } from "../support/programs/programs.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";
import { runClean, sh } from "./installed.ts";

const PLACE = Deno.makeTempDirSync({ prefix: "recordfs-npm-" });
addEventListener("unload", () => fs.rmSync(PLACE, { recursive: true }));

/** Cache of fetched packages, shared by all tests. */
const CACHE = `${PLACE}/cache`;

/** Limits for the size of fetched and unpacked packages, in megabytes. */
const MOST_FETCHED = 110;
const MOST_UNPACKED = 200;

const { ignore } = needs("root", "fuse", "unshare");

for (const flags of ["", "--ignore-scripts"]) {
  Deno.test({
    name: `npm install --global ${flags}: a mount, with the network cut`,
    ignore: !LONG || ignore,
    fn: () =>
      withTempDir(async (dir) => {
        const { file } = await buildPackage(dir);
        const home = `${dir}/home`;
        fs.mkdirSync(home);
        const env = `export HOME=${home} npm_config_cache=${CACHE}`;
        const npm = `${env}; npm --prefix ${dir}/prefix --global`;
        const said = await sh(`${npm} install ${flags} ${file} 2>&1`);
        const explained = fs.readFileSync(
          `${REPOSITORY}docs/install.md`,
          "utf8",
        );
        for (const [, kind] of said.matchAll(/^npm warn (\S+)/gmi)) {
          assert.ok(explained.includes(`\`${kind}\``), said);
        }
        assert.ok(await megabytes(CACHE) < MOST_FETCHED);
        assert.ok(await megabytes(`${dir}/prefix`) < MOST_UNPACKED);

        const command = ["unshare", "--net", `${dir}/prefix/bin/recordfs`];
        fs.mkdirSync(`${dir}/x`);
        const data = `${REPOSITORY}test/recipes/packed.ffr`;
        const run = [...command, "mount", data, `${dir}/x`];
        const mounted = await runClean(run, { HOME: home });
        assert.equal(mounted.code, 0, mounted.stderr);
        assert.ok(fs.existsSync(`${dir}/x/001.txt`));
        await runClean([...command, "unmount", `${dir}/x`]);
        assert.ok(fs.existsSync(`${dir}/prefix/share/man/man1/recordfs.1`));

        await sh(`${npm} uninstall @recordfs/recordfs 2>&1`);
        const left = await sh(`find ${dir}/prefix ${home} ! -type d`);
        assert.equal(left, "", "nothing is left");
      }),
  });
}

Deno.test({
  name: "npx runs the archive, and a project with it checks and runs",
  ignore: !LONG || ignore,
  fn: () =>
    withTempDir(async (dir) => {
      const { file } = await buildPackage(dir);
      const env = `export HOME=${dir} npm_config_cache=${CACHE}; cd ${dir}`;
      const name = file.split("/").at(-1);
      const version = await sh(`${env}; npx --yes ./${name} --version`);
      assert.match(version, /^\d+\.\d+\.\d+\n$/);
      fs.mkdirSync(`${dir}/project`);
      const write = (path: string, text: string) =>
        fs.writeFileSync(`${dir}/project/${path}`, text);
      write("package.json", '{ "type": "module", "private": true }');
      write("deno.json", '{ "nodeModulesDir": "manual" }');
      write("use.ts", USE);
      await sh(`${env}/project; npm install ../${name} 2>&1`);
      const deno = `${env}/project; unshare --net '${Deno.execPath()}'`;
      await sh(`${deno} check use.ts`);
      const data = `${REPOSITORY}test/recipes/packed.ffr`;
      assert.equal(await sh(`${deno} run -A use.ts ${data}`), "9\n");
    }),
});

Deno.test({
  name:
    "deno task release makes the archive of the document, and it runs without a network",
  ignore: !LONG || ignore,
  fn: () =>
    withTempDir(async (dir) => {
      const document = fs.readFileSync(
        `${REPOSITORY}docs/administer.md`,
        "utf8",
      );
      const [, task, archive] =
        /deno@\S+ (task release) .*\ntar -xzf (\S+) -C \/opt$/m.exec(document)!;
      await sh(`cd ${REPOSITORY}; '${Deno.execPath()}' ${task}`);
      const other = archive!.replace("linux-x64", `linux-${PLATFORM_CPU}`);
      await sh(`cd ${REPOSITORY}; tar -xzf ${other} -C ${dir}`);
      const [name] = fs.readdirSync(dir);
      const command = ["unshare", "--net", `${dir}/${name}/bin/recordfs`];
      const { stdout, stderr } = await runClean([...command, "--version"]);
      assert.match(stdout, /^\d+\.\d+\.\d+\n$/, stderr);
    }),
});

/** This machine's processor in names of archives. */
const PLATFORM_CPU = Deno.build.arch === "x86_64" ? "x64" : "arm64";

const USE = `import { open } from "@recordfs/recordfs";
import { DataLoader, PackedFolderDataset } from "@recordfs/recordfs/data";
using fs = await open(Deno.args[0]!);
// @ts-expect-error it has types
const wrong: number = fs.walk;
using dataset = await PackedFolderDataset.open(Deno.args[0]!);
await using loader = new DataLoader(dataset, { batchSize: 2, numWorkers: 1 });
let count = 0;
for await (const batch of loader) count += batch.content.length;
console.log(count);
`;

async function megabytes(path: string): Promise<number> {
  return Number((await sh(`du -sm ${path}`)).split("\t")[0]);
}
