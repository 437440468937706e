import assert from "node:assert/strict";
import * as fs from "node:fs";

const DEVICE = "/dev/fuse";

/**
 * Opens the device `$1` to everybody until its input ends, which it does however its parent ends, and
 * then puts the mode back that it noted in `$2`; unless others still need the device open.
 *
 * Everyone who does shares a lock of the device. To convert a lock without waiting loses it where
 * others share it, so of those who leave, exactly the last succeeds.
 */
const KEEPER = `
trap "" HUP INT TERM
exec 9<"$1"
until [ "$opened" ] && [ -e "$2" ]; do
  flock 9
  [ -s "$2" ] || stat -c %a "$1" >"$2" || exit
  chmod 666 "$1" || exit
  opened=yes
  flock -s 9
done
echo open
read -r _
flock -n 9 || exit 0
chmod "$(cat "$2")" "$1" && rm "$2"
`;

/**
 * Runs `body` while everybody may open `/dev/fuse`; needs root. Distributions let everybody (udev's
 * 50-udev-default.rules), and `test/run.ts` gives the tests a device of their own. On other machines
 * it is opened for as long as this takes, also where this is killed.
 */
export async function withOpenFuseDevice<T>(
  body: () => Promise<T>,
): Promise<T> {
  const there = fs.statSync(DEVICE, { throwIfNoEntry: false });
  if (there === undefined) return await body();
  const noted = `/run/recordfs-tests-fuse-mode-${there.dev}-${there.ino}`;
  const isOpen = (there.mode & 0o006) === 0o006;
  if (isOpen && !fs.existsSync(noted)) return await body();
  // In a session of its own, so that who ends all processes of a terminal or group does not reach it.
  const keeper = new Deno.Command("setsid", {
    args: ["sh", "-c", KEEPER, "sh", DEVICE, noted],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const said = keeper.stdout.getReader();
  try {
    const { done } = await said.read();
    assert.ok(!done, `${DEVICE} cannot be opened to everybody`);
    return await body();
  } finally {
    await said.cancel();
    await keeper.stdin.close();
    await keeper.status;
  }
}
