/** ARCHITECTURE.md names every room, and what it names is there. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { REPOSITORY } from "../support/paths.ts";

const text = fs.readFileSync(`${REPOSITORY}ARCHITECTURE.md`, "utf8");

function foldersBelow(folder: string): string[] {
  return fs.readdirSync(REPOSITORY + folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}${name}/`)
    .flatMap((path) => [path, ...foldersBelow(path)]);
}

Deno.test("each folder of src and fuse is a row of the rooms in ARCHITECTURE.md", () => {
  const rows = [
    ...text.matchAll(/^\| `((?:src|fuse)\/\S*)` +\| (\S.*\S) +\|$/gm),
  ];
  const rooms = rows.map(([, folder]) => folder!);
  const folders = [
    "src/",
    ...foldersBelow("src/"),
    "fuse/",
    ...foldersBelow("fuse/"),
  ]
    // Those that hold only folders are told by these.
    .filter((folder) =>
      rooms.includes(folder) ||
      fs.readdirSync(REPOSITORY + folder).some((name) => name.endsWith(".ts"))
    );
  assert.deepEqual(rooms.toSorted(), folders.toSorted());
});

Deno.test("files and folders that ARCHITECTURE.md names are there", () => {
  const named = text.matchAll(/`((?:src|fuse|test|bench|docs)\/[\w./-]*)`/g);
  let count = 0;
  for (const [, path] of named) {
    assert.ok(fs.existsSync(REPOSITORY + path), path);
    count++;
  }
  assert.ok(count > 80, `only ${count} were found`);
});
