/** `serve --subset` and `view --subset`: only the samples of an index file are shown. */
import assert from "node:assert/strict";
import { assertFailed, recordfs, succeed } from "../cli/run_cli.ts";
import { withTempDir } from "../support/paths.ts";
import { CONTAINERS, indicesIn } from "../support/ten_samples.ts";
import { startServing } from "../support/serve/serving_command.ts";

/** Without a screen, `view` does not open a browser. */
const NO_SCREEN = { DISPLAY: "", WAYLAND_DISPLAY: "" };

/** Sends requests to a started server. */
interface Client {
  /** Returns the indices in the texts below a directory, in order. */
  numbers(directory?: string): Promise<number[]>;
  json(path: string): Promise<Record<string, unknown>>;
  lines(path: string): Promise<Record<string, unknown>[]>;
}

async function serving(
  args: readonly string[],
  use: (client: Client) => Promise<void>,
): Promise<string> {
  const server = await startServing(args, NO_SCREEN);
  let ended: { code: number; stderr: string };
  try {
    const headers = { authorization: `Bearer ${server.token}` };
    const get = async (path: string, method = "GET") => {
      // A new connection may reach another thread.
      const response = await fetch(server.url + path, {
        method,
        headers: { ...headers, connection: "close" },
      });
      const text = await response.text();
      assert.ok(response.ok, `${path}: ${text}`);
      return text;
    };
    const json = async (path: string) => JSON.parse(await get(path));
    const numbers = async (directory = ""): Promise<number[]> => {
      const query = new URLSearchParams({ path: directory, limit: "1000" });
      const { entries } = await json(`api/list?${query}`);
      const found: number[] = [];
      for (const { name, isDirectory } of entries) {
        const path = directory === "" ? name : `${directory}/${name}`;
        if (isDirectory) {
          found.push(...await numbers(path));
          continue;
        }
        const text = await get(`files/${path}`);
        const [, number] = /^text (\d+)$/.exec(text) ?? [];
        if (number !== undefined) found.push(Number(number));
      }
      return found;
    };
    const lines = async (path: string) =>
      (await get(path, "POST")).trimEnd().split("\n")
        .map((line) => JSON.parse(line));
    await use({ numbers, json, lines });
  } finally {
    ended = await server.end("SIGTERM");
  }
  assert.equal(ended.code, 0, ended.stderr);
  return ended.stderr;
}

async function split(path: string): Promise<[string, number[]]> {
  const out = `${path}.splits`;
  await succeed(["split", path, "--ratios", "1,1", "--out", out]);
  return [`${out}/train.txt`, indicesIn(`${out}/train.txt`)];
}

Deno.test("serve and view show only the samples of an index file, and number and check only these", async () => {
  for (const name of ["samples.ffr", "points", "web.tar", "columns"]) {
    await withTempDir(async (dir) => {
      const path = `${dir}/${name}`;
      CONTAINERS[name]!(path);
      const [subset, indices] = await split(path);
      for (const command of [["serve", "--port", "0"], ["view"]]) {
        const args = [...command, "--subset", subset, path];
        const stderr = await serving(args, async (client) => {
          assert.deepEqual(await client.numbers(), indices, name);
          const { samples, info } = await client.json("api/info");
          assert.equal((samples as { length: number }).length, 5, name);
          assert.match(
            (info as { notes: string[] }).notes.at(-1)!,
            /only 5 of 10 samples are shown/,
          );
          const checked = await client.lines("api/check");
          const { report } = checked.at(-1) as {
            report: { samples: number; damaged: number };
          };
          assert.deepEqual([report.samples, report.damaged], [5, 0], name);
        });
        assert.match(stderr, /\(5 of 10 samples\)/);
      }
    });
  }
});

Deno.test("indices count through several containers, in every thread of serve", () =>
  withTempDir(async (dir) => {
    CONTAINERS["samples.ffr"]!(`${dir}/a.ffr`);
    CONTAINERS["points"]!(`${dir}/p`);
    await Deno.writeTextFile(`${dir}/i.txt`, "3\n9\n10\n14\n");
    const args = ["serve", "--port", "0", "--workers", "2", "--subset"];
    await serving(
      [...args, `${dir}/i.txt`, `${dir}/a.ffr`, `${dir}/p`],
      async (client) => {
        for (let times = 0; times < 4; times++) {
          assert.deepEqual(await client.numbers(), [3, 9, 0, 4]);
        }
        const checked = await client.lines("api/check");
        const { report } = checked.at(-1) as { report: { samples: number } };
        assert.equal(report.samples, 4);
      },
    );
  }));

Deno.test("serve rejects an index file of another container", () =>
  withTempDir(async (dir) => {
    CONTAINERS["web.tar"]!(`${dir}/web.tar`);
    CONTAINERS["packed.ffr"]!(`${dir}/packed.ffr`);
    const [subset] = await split(`${dir}/packed.ffr`);
    for (const command of ["serve", "view"]) {
      const args = [command, "--subset", subset, `${dir}/web.tar`];
      const ran = await recordfs(args);
      assertFailed(ran, 1, /it is an index file of other samples/);
    }
  }));
