/** ARCHITECTURE.md names every room, each room's README names its folders, and named files exist. */
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

const ROOMS = [
  ...fs.readdirSync(`${REPOSITORY}src`).map((name) => `src/${name}/`),
  "fuse/",
];

Deno.test("each room is a row in ARCHITECTURE.md, which leads to its README", () => {
  const rows = [...text.matchAll(/^\| \[`(\S+)`\]\((\S+)\) +\| \S/gm)];
  assert.deepEqual(
    rows.map(([, room, readme]) => [room, readme]).toSorted(),
    ROOMS.map((room) => [room, `${room}README.md`]).toSorted(),
  );
});

Deno.test("each folder of a room is a row in its README", () => {
  for (const room of ROOMS) {
    const readme = fs.readFileSync(`${REPOSITORY}${room}README.md`, "utf8");
    const rows = [...readme.matchAll(/^\| `(\S+)` +\| \S/gm)]
      .map(([, folder]) => room + folder!);
    const folders = foldersBelow(room)
      // Folders of folders need no row: their subfolders have one.
      .filter((folder) =>
        rows.includes(folder) ||
        fs.readdirSync(REPOSITORY + folder).some((name) => name.endsWith(".ts"))
      );
    assert.deepEqual(rows.toSorted(), folders.toSorted(), room);
  }
});

Deno.test("files and folders that ARCHITECTURE.md names exist", () => {
  const named = text.matchAll(/`((?:src|fuse|test|bench|docs)\/[\w./-]*)`/g);
  let count = 0;
  for (const [, path] of named) {
    assert.ok(fs.existsSync(REPOSITORY + path), path);
    count++;
  }
  assert.ok(count > 80, `only ${count} were found`);
});
