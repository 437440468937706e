/** JSR's requirements for a package, checked without the registry and a network. */
import assert from "node:assert/strict";
import manifest from "../../deno.json" with { type: "json" };
import { needs } from "../support/programs/programs.ts";
import { REPOSITORY } from "../support/paths.ts";

Deno.test({
  name:
    "deno publish would accept the package: no slow types, all entry points",
  ...needs("root", "unshare"),
  fn: async () => {
    // `deno check` checks the types, and packages are in Deno's cache.
    const flags = ["--dry-run", "--allow-dirty", "--no-check"];
    const { success, stdout, stderr } = await new Deno.Command("unshare", {
      args: ["--net", Deno.execPath(), "publish", ...flags],
      cwd: REPOSITORY,
      env: { NO_COLOR: "1", DENO_LOG: "info" }, // tests run with a higher log level
    }).output();
    const text = new TextDecoder().decode(stderr) +
      new TextDecoder().decode(stdout);
    assert.ok(success, text);
    assert.match(text, /^Success Dry run complete/m);
    const files = [...text.matchAll(/^ +file:\/\/(\S+) \(/gm)]
      .map(([, path]) => decodeURI(path!).slice(REPOSITORY.length));
    for (const file of Object.values(manifest.exports)) {
      assert.ok(files.includes(file.slice(2)), file);
    }
    const others = files.filter((file) =>
      /^(test|bench|packaging|dist|\.ci)\//.test(file)
    );
    assert.deepEqual(others, []);
  },
});
