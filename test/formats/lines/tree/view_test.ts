/** Rows as reported to viewers: cells by type, nulls among texts, and damaged rows. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../../src/open/open.ts";
import type { RowsMessage } from "../../../../src/serve/api/messages.ts";
import { withTempDir } from "../../../support/paths.ts";
import { served } from "../../../support/serve/served_folder.ts";

async function rowsOf(content: string, name: string) {
  const { promise, resolve } = Promise.withResolvers<RowsMessage["rows"]>();
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/${name}`, content);
    const fs_ = await open(`${dir}/${name}`, {
      sampleView: true,
      onWarning() {},
    });
    await using server = served(fs_);
    const response = await server.get("api/row?limit=500");
    assert.equal(response.status, 200);
    resolve((await response.json() as RowsMessage).rows);
  });
  return await promise;
}

const shown = (rows: RowsMessage["rows"]) =>
  rows.map(({ cells }) =>
    cells.map(({ key, type, value }) => [
      key,
      type,
      value?.kind === "text"
        ? value.text
        : value?.kind === "tree"
        ? value.value
        : undefined,
    ])
  );

Deno.test("lines are rows, whose cells are values by type", async () => {
  const rows = await rowsOf(
    '{"n":1,"t":"a","f":0.5,"o":{"x":[1]},"b":true}\n' +
      '{"n":2,"t":null,"f":1.0,"o":null,"b":false}\n' +
      '{"n":3,"t":"","f":2,"o":{},"b":true}\n',
    "a.jsonl",
  );
  assert.deepEqual(shown(rows), [
    [["n", "int", 1], ["t", "str", "a"], ["f", "float", 0.5], ["o", "json", {
      x: [1],
    }], ["b", "bool", true]],
    [["n", "int", 2], ["t", "str", null], ["f", "float", 1], [
      "o",
      "json",
      null,
    ], ["b", "bool", false]],
    [["n", "int", 3], ["t", "str", ""], ["f", "float", 2], ["o", "json", {}], [
      "b",
      "bool",
      true,
    ]],
  ]);
});

Deno.test("rows of CSV have a cell for each column, and damaged ones report it", async () => {
  const rows = await rowsOf('n,t\n1,"a, b"\n2\n3,c\n', "a.csv");
  assert.deepEqual(shown(rows.filter(({ damage }) => damage === null)), [
    [["n", "int", 1], ["t", "str", "a, b"]],
    [["n", "int", 3], ["t", "str", "c"]],
  ]);
  assert.match(rows[1]!.damage!, /1 cells, and the header has 2/);
});
