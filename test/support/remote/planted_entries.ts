/** Entries that an attacker plants in place of a file or directory that a program is about to use. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";

/** A file and a directory that must not be changed. */
export class Victim {
  /** Path of the file. */
  readonly path: string;
  readonly directory: string;
  readonly #facts: string;

  /** @param path Directory to create for both. */
  constructor(path: string) {
    fs.mkdirSync(`${path}/directory`, { recursive: true });
    this.path = `${path}/file`;
    this.directory = `${path}/directory`;
    fs.writeFileSync(this.path, "nobody may touch this");
    fs.writeFileSync(`${this.directory}/data`, "nor this");
    fs.utimesSync(this.path, 1_600_000_000, 1_600_000_000);
    this.#facts = this.#look();
  }

  assertUntouched(what: string): void {
    assert.equal(this.#look(), this.#facts, what);
  }

  #look(): string {
    const { mode, uid, mtimeMs, size } = fs.statSync(this.path);
    const names = fs.readdirSync(this.directory, { recursive: true });
    return JSON.stringify([
      ...[mode, uid, mtimeMs, size, fs.readFileSync(this.path, "utf8"), names],
      fs.readFileSync(`${this.directory}/data`, "utf8"),
      fs.statSync(this.directory).mode,
    ]);
  }
}

/** Ways to plant an entry at a path that does not exist yet. */
export const plantings: Readonly<
  Record<string, (path: string, victim: Victim) => void>
> = {
  "a link to a file": (path, victim) => fs.symlinkSync(victim.path, path),
  "a link to a directory": (path, victim) =>
    fs.symlinkSync(victim.directory, path),
  "a link to nothing": (path, victim) =>
    fs.symlinkSync(`${victim.directory}/new`, path),
  "a hard link": (path, victim) => fs.linkSync(victim.path, path),
  "a pipe": (path) => {
    assert.equal(spawnSync("mkfifo", [path]).status, 0);
  },
  "a directory": (path) => fs.mkdirSync(path),
};
