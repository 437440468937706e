import assert from "node:assert/strict";
import * as fs from "node:fs";

const DEVICE = "/dev/fuse";

/**
 * Lets every user open the device `$1` until standard input ends, which it also does when the parent dies. Then
 * restores the mode that is saved in `$2`, unless others still need the device.
 *
 * All users of the device share a lock. Converting a shared lock to an exclusive one without waiting drops it if others
 * hold it. So of several that end, only the last succeeds.
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
 * Runs `body` while every user may open `/dev/fuse`; needs root. Distributions allow this (udev's
 * 50-udev-default.rules), and `test/run.ts` gives the tests a device of their own. Elsewhere, the mode is changed until
 * `body` ends, and restored even if this process is killed.
 */
export async function withOpenFuseDevice<T>(
  body: () => Promise<T>,
): Promise<T> {
  const there = fs.statSync(DEVICE, { throwIfNoEntry: false });
  if (there === undefined) return await body();
  const noted = `/run/recordfs-tests-fuse-mode-${there.dev}-${there.ino}`;
  const isOpen = (there.mode & 0o006) === 0o006;
  if (isOpen && !fs.existsSync(noted)) return await body();
  // In its own session, so that signals to a terminal or process group do not reach it.
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
