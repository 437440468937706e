/** Videos that cannot be decoded, or only in part, and machines without ffmpeg. */
import assert from "node:assert/strict";
import { VideoError, videoFrames } from "../../../src/codecs/video/mod.ts";
import { burstCount, ffmpeg, makeClip } from "../../support/gulp/clips.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

function testFails(name: string, body: (dir: string) => Promise<void>): void {
  Deno.test({ name, ...needs("ffmpeg"), fn: () => withTempDir(body) });
}

async function assertFails(
  path: string,
  code: VideoError["code"],
  words: RegExp,
  options?: Parameters<typeof videoFrames>[1],
): Promise<void> {
  await assert.rejects(
    () => Array.fromAsync(videoFrames(path, options)),
    (error) => {
      assert.ok(error instanceof VideoError, `${error}`);
      assert.deepEqual([error.code, error.path], [code, path]);
      assert.ok(error.message.startsWith(`Cannot decode ${path}: `));
      assert.match(error.message, words);
      return true;
    },
  );
}

testFails("an invalid video fails with ffmpeg's own message", async (dir) => {
  const missing = `${dir}/missing.mp4`;
  await assertFails(missing, "video-failed", /ffmpeg: .*No such file/);
  const empty = `${dir}/empty.mp4`;
  await Deno.writeFile(empty, new Uint8Array(0));
  await assertFails(empty, "video-failed", /ffmpeg: .*(Invalid data|moov)/s);
  const noise = `${dir}/noise.mp4`;
  const bytes = new Uint8Array(5000).map((_, i) => (i * i * 31) >> 3);
  await Deno.writeFile(noise, bytes);
  await assertFails(noise, "video-failed", /ffmpeg: .*(Invalid data|moov)/s);
  await assertFails(dir, "video-failed", /ffmpeg: .*(Is a directory|Invalid)/s);
});

testFails(
  "a file without its index fails; a truncated one returns the frames before the truncation",
  async (dir) => {
    const mp4 = await makeClip(`${dir}/clip.mp4`); // with its index at the end
    await Deno.truncate(mp4, (await Deno.stat(mp4)).size * 0.6);
    await assertFails(mp4, "video-failed", /moov atom not found/);

    const mkv = await makeClip(`${dir}/clip.mkv`);
    const whole = (await Array.fromAsync(videoFrames(mkv))).length;
    await Deno.truncate(mkv, (await Deno.stat(mkv)).size * 0.6);
    const frames = await Array.fromAsync(videoFrames(mkv));
    assert.ok(frames.length > 3 && frames.length < whole);
    assert.equal(frames.length, await burstCount(mkv, dir));
  },
);

testFails(
  "damage that ffmpeg can skip is reported to onWarning",
  async (dir) => {
    const clip = await makeClip(`${dir}/clip.mp4`, { frames: 50 });
    const sound = (await Deno.stat(clip)).size;
    const words: string[] = [];
    const onWarning = (text: string) => words.push(text);
    await Array.fromAsync(videoFrames(clip, { onWarning }));
    assert.equal(words.length, 0);
    const file = await Deno.open(clip, { write: true });
    for (let at = 2000; at < sound / 2; at += 700) {
      await file.seek(at, Deno.SeekMode.Start);
      await file.write(new Uint8Array(40).fill(0x5a));
    }
    file.close();
    const frames = await Array.fromAsync(videoFrames(clip, { onWarning }));
    assert.equal(frames.length, await burstCount(clip, dir));
    assert.equal(words.length, 1);
    assert.match(words[0]!, /error|damaged|overread|illegal/i);
    assert.ok(words[0]!.length < 10_000);
  },
);

testFails(
  "audio alone, and a video of no length, have no frames",
  async (dir) => {
    const sound = `${dir}/sound.mp4`;
    await ffmpeg(
      "-f",
      "lavfi",
      "-i",
      "sine=duration=0.2",
      "-c:a",
      "aac",
      sound,
    );
    await assertFails(sound, "video-failed", /does not contain any stream/);
    const clip = await makeClip(`${dir}/clip.mkv`, { frames: 2 });
    const none = `${dir}/none.avi`;
    await ffmpeg("-i", clip, "-frames:v", "0", "-c:v", "rawvideo", none);
    await assertFails(none, "no-frames", /it has no frames/);
  },
);

testFails(
  "a file that refers to the network is not followed",
  async (dir) => {
    let requests = 0;
    await using server = Deno.serve({ port: 0, onListen() {} }, () => {
      requests++;
      return new Response("");
    });
    const url = `http://127.0.0.1:${server.addr.port}/part.ts`;
    const list = `${dir}/list.m3u8`;
    await Deno.writeTextFile(
      list,
      `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST\n`,
    );
    await assertFails(list, "video-failed", /Protocol 'http' not on whitelist/);
    const concat = `${dir}/list.ffconcat`;
    await Deno.writeTextFile(concat, `ffconcat version 1.0\nfile '${url}'\n`);
    await assertFails(concat, "video-failed", /ffmpeg: /);
    assert.equal(requests, 0);
  },
);

testFails("a failure after some frames is an error as well", async (dir) => {
  const clip = await makeClip(`${dir}/clip.mp4`, { frames: 4 });
  const program = `${dir}/fails-late`;
  await Deno.writeTextFile(
    program,
    '#!/bin/sh\nffmpeg "$@" && { echo "out of luck" >&2; exit 3; }\n',
    { mode: 0o755 },
  );
  let frames = 0;
  await assert.rejects(async () => {
    for await (const _ of videoFrames(clip, { program })) frames++;
  }, /fails-late: out of luck$/);
  assert.equal(frames, 4);
});

Deno.test("a program that writes something else, or half a JPEG, is detected", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/clip.mp4`;
    const cases = [
      ["echo hello", /something other than JPEGs: byte 0 is 68/],
      ["printf '\\377\\330\\377\\340\\000\\005a'", /ended with code 0/],
      ["kill -9 $$", /ended with SIGKILL/],
      ["yes complaint | head -c 1000000 >&2; exit 1", /^.{1,9000} …$/s],
    ] as const;
    for (const [script, words] of cases) {
      const program = `${dir}/program`;
      await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, {
        mode: 0o755,
      });
      await assertFails(path, "video-failed", words, { program });
    }
  });
});

Deno.test("if ffmpeg is missing, the error says how to get it", async () => {
  await withTempDir(async (dir) => {
    await assertFails(
      `${dir}/clip.mp4`,
      "ffmpeg-missing",
      /apt-get install ffmpeg/,
      { program: `${dir}/ffmpeg` },
    );
  });
});

Deno.test({
  name: "if ffmpeg may not be run, the error names the permission",
  ...needs("ffmpeg"),
  async fn() {
    const module = new URL("src/codecs/video/mod.ts", `file://${REPOSITORY}`);
    const code = `import { videoFrames } from "${module}";
    try { for await (const _ of videoFrames("/clip.mp4")); }
    catch (error) { console.log(error.code, error.message); }`;
    await withTempDir(async (dir) => {
      await Deno.writeTextFile(`${dir}/main.ts`, code);
      const { stdout } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "--no-config", "--no-prompt", "--no-check"],
          ...["--allow-read", `${dir}/main.ts`],
        ],
      }).output();
      assert.match(
        new TextDecoder().decode(stdout),
        /^ffmpeg-refused Cannot decode \/clip\.mp4: .*--allow-run=ffmpeg/,
      );
    });
  },
});
