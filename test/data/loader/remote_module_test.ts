import assert from "node:assert/strict";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";

/** Serves the repository's modules like a registry. */
function registry(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (!pathname.endsWith(".ts")) return new Response(null, { status: 404 });
    const module = await Deno.readFile(REPOSITORY + pathname);
    const headers = { "content-type": "application/typescript" };
    return new Response(module, { headers });
  });
}

Deno.test("threads find their module if the package comes from a registry", async () => {
  await withTempDir(async (dir) => {
    await using server = registry();
    const host = `localhost:${server.addr.port}`;
    const program = `
      import { DataLoader } from "http://${host}/src/data/loader/data_loader.ts";
      import { NumbersDataset } from "http://${host}/test/data/support/numbers_dataset.ts";
      await using loader = new DataLoader(new NumbersDataset(4), { batchSize: 2, numWorkers: 1 });
      for await (const [indices] of loader) console.log(indices.join());
    `;
    await Deno.writeTextFile(`${dir}/program.ts`, program);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-lock", `--allow-import=${host}`]
        .concat(`${dir}/program.ts`),
      env: { DENO_DIR: `${dir}/deno` },
    }).output();
    const decoder = new TextDecoder();
    assert.equal(decoder.decode(stdout), "0,1\n2,3\n", decoder.decode(stderr));
  });
});
