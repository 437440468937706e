/** The terminal while the index of a remote container is fetched. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { needs } from "../../support/programs/programs.ts";
import { answerFile, FileServer } from "../../support/remote/file_server.ts";
import { until, withMountPlace } from "../mount/mount_place.ts";
import { inNamespace } from "../mount/own_run.ts";
import { CLI, recordfsProcess } from "../run_cli.ts";

/** The index of 60,000 samples is larger than the first request. */
const CONTAINER = ffrBytes(
  Array.from({ length: 60_000 }, (_, i) => Uint8Array.of(i)),
);

Deno.test({
  name:
    "a terminal shows how much of an index has been fetched, also for a mount in the background (needs script)",
  ...needs("script", "fuse", "root"),
  async fn() {
    await withMountPlace(async (place) => {
      fs.mkdirSync(`${place.dir}/root`);
      fs.writeFileSync(`${place.dir}/root/x.ffr`, CONTAINER);
      await using server = await FileServer.start(`${place.dir}/root`);
      // The rest of the index arrives after both terminals show progress.
      const shown = Promise.withResolvers<void>();
      server.fault = (asked, response, file) => {
        const answer = () => answerFile(asked, file!, new Date(1e12), response);
        if (asked.range!.startsWith("bytes=0-")) answer();
        else void shown.promise.then(answer);
        return true;
      };
      const url = `${server.url}/x.ffr`;
      const info = ["info", url, "--no-cache"];
      const mount = ["mount", url, place.mountpoint];
      const cache = ["--cache-dir", `${place.dir}/cache`];
      const terminals = [info, [...mount, ...cache]].map((args) => {
        const words = [Deno.execPath(), "run", "-A", CLI, ...args];
        const command = words.map((word) => `'${word}'`).join(" ");
        return new Terminal(command, place.env);
      });
      const elsewhere = recordfsProcess(info);
      await until(() =>
        terminals.every(({ text }) =>
          /fetching the index [\d.]+ k?B/.test(text)
        )
      );
      shown.resolve();
      for (const terminal of terminals) {
        assert.equal(await terminal.code, 0, terminal.text);
      }
      const { code, stderr } = await elsewhere;
      assert.deepEqual([stderr, code], ["", 0]);
    });
  },
});

/** A command on a terminal, and its output. */
class Terminal {
  text = "";
  readonly code: Promise<number>;

  constructor(command: string, env: Record<string, string>) {
    const script = ["script", "-qec", command, "/dev/null"];
    const [program, ...args] = inNamespace(script, env);
    const child = new Deno.Command(program!, {
      args,
      env,
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const read = async () => {
      const decoder = new TextDecoderStream();
      for await (const part of child.stdout.pipeThrough(decoder)) {
        this.text += part;
      }
      return (await child.status).code;
    };
    this.code = read();
  }
}
