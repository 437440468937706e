import assert from "node:assert/strict";
import * as fs from "node:fs";
import { UsageError } from "../../../src/cli/exit.ts";
import { tokenIn } from "../../../src/cli/serve/token_file.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { SPECIAL_FILES } from "../../support/programs/special_files.ts";

/** Another user. */
const OTHER = 65534;

const TOKEN = "0123456789abcdef";

function refused(path: string, words: RegExp): void {
  assert.throws(
    () => tokenIn(path),
    (error) => error instanceof UsageError && words.test(error.message),
  );
}

Deno.test("a token is created once, and read through a link of the same user", () =>
  withTempDir((dir) => {
    const token = tokenIn(`${dir}/token`);
    assert.equal(tokenIn(`${dir}/token`), token);
    fs.symlinkSync("token", `${dir}/link`);
    assert.equal(tokenIn(`${dir}/link`), token);
    return Promise.resolve();
  }));

Deno.test("a file that others can write to is rejected", () =>
  withTempDir((dir) => {
    fs.writeFileSync(`${dir}/token`, TOKEN);
    for (const mode of [0o620, 0o602, 0o666]) {
      fs.chmodSync(`${dir}/token`, mode);
      refused(`${dir}/token`, /other users can write to it/);
    }
    return Promise.resolve();
  }));

Deno.test("a pipe is not waited for, and a large file not read", () =>
  withTempDir((dir) => {
    SPECIAL_FILES["a pipe"]!(`${dir}/pipe`, "");
    SPECIAL_FILES["a file of 10 GB"]!(`${dir}/large`, "");
    fs.chmodSync(`${dir}/large`, 0o600);
    fs.chmodSync(`${dir}/pipe`, 0o600);
    for (const name of ["pipe", "large", "."]) {
      refused(`${dir}/${name}`, /has no token/);
    }
    SPECIAL_FILES["a dangling link"]!(`${dir}/link`, "");
    assert.throws(() => tokenIn(`${dir}/link`), Deno.errors.AlreadyExists);
    return Promise.resolve();
  }));

Deno.test({
  name: "another user's file, or the target of that user's link, is rejected",
  ...needs("root"),
  fn: () =>
    withTempDir((dir) => {
      fs.writeFileSync(`${dir}/token`, TOKEN, { mode: 0o600 });
      fs.symlinkSync("token", `${dir}/link`);
      fs.lchownSync(`${dir}/link`, OTHER, OTHER);
      refused(`${dir}/link`, /it belongs to user 65534/);
      fs.chownSync(`${dir}/token`, OTHER, OTHER);
      refused(`${dir}/token`, /it belongs to user 65534/);
      return Promise.resolve();
    }),
});
