/** `recordfs doctor`, on this machine and where something is missing. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { denoCaches, needs } from "../../../support/programs/programs.ts";
import { onMusl } from "../../../support/programs/musl.ts";
import { asOrdinaryUser } from "../../../support/programs/users.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";
import { CLI, type Ran, recordfsProcess, run } from "../../run_cli.ts";

interface Report {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly what: string;
    readonly state: string;
    readonly says: string;
    readonly remedy?: string;
  }[];
}

const DOCTOR = [Deno.execPath(), "run", "-A", CLI, "doctor", "--json"];
const DATA = `${REPOSITORY}test/recipes/packed.ffr`;

/** Returns the findings by subject. */
function reported(
  { stdout, stderr, code }: Pick<Ran, "stdout" | "stderr" | "code">,
) {
  assert.doesNotMatch(stderr, /^recordfs/m);
  const { ok, findings }: Report = JSON.parse(stdout);
  assert.equal(code, ok ? 0 : 1);
  assert.equal(ok, findings.every(({ state }) => state !== "fails"));
  for (const { state, remedy } of findings) {
    assert.equal(remedy !== undefined, state !== "works");
  }
  return new Map(findings.map((finding) => [finding.what, finding]));
}

Deno.test({
  name: "doctor as root, with everything present",
  ...needs("root", "fuse", "ffmpeg", "bash"),
  fn: async () => {
    const found = reported(await run([...DOCTOR, DATA]));
    assert.deepEqual(
      [...found].filter(([what, { state }]) =>
        state === "fails" && what !== "kernel"
      ),
      [],
    );
    assert.match(
      found.get("kernel")!.says,
      RegExp(`^Linux ${Deno.osRelease()}: `),
    );
    assert.match(found.get("mounting")!.says, /mounted and read in \d+ ms/);
    assert.match(found.get("location")!.says, /packed\.ffr: ffrecord, 9 files/);
    const limit = /Max open files\s+(\d+)/
      .exec(fs.readFileSync("/proc/self/limits", "utf8"))![1]!;
    assert.ok(found.get("descriptors")!.says.includes(limit));
    // No mount is left.
    assert.doesNotMatch(
      fs.readFileSync("/proc/mounts", "utf8"),
      /recordfs-doctor/,
    );
  },
});

Deno.test({
  name: "doctor in words",
  ...needs("root", "fuse"),
  fn: async () => {
    const { stdout, code } = await recordfsProcess(["doctor", `${DATA}x`]);
    assert.equal(code, 1);
    assert.match(stdout, /^works {4}recordfs +\d+\.\d+\.\d+, on Deno /);
    assert.match(stdout, /\nFAILS {4}location +.*packed\.ffrx.*\n +→ /);
  },
});

Deno.test({
  name: "doctor, as an ordinary user",
  ...needs("root", "fuse", "fusermount3", "setpriv"),
  fn: () =>
    asOrdinaryUser(async (user) => {
      const found = reported(await user.recordfs("doctor", "--json"));
      assert.equal(found.get("mounting")!.state, "works");
      const allowed = /^user_allow_other/m.test(
        fs.existsSync("/etc/fuse.conf")
          ? fs.readFileSync("/etc/fuse.conf", "utf8")
          : "",
      );
      assert.equal(
        found.get("allow_other")!.state,
        allowed ? "works" : "limited",
      );
    }),
});

Deno.test({
  name: "doctor without /dev/fuse, without programs, with few descriptors",
  ...needs("root", "unshare", "prlimit"),
  fn: () =>
    withTempDir(async (dir) => {
      // A /dev without fuse, and an empty PATH.
      const script =
        `mount -t tmpfs none /dev && touch /dev/null && PATH=${dir} exec "$@"`;
      const found = reported(
        await run([
          ...["unshare", "--mount", "sh", "-c", script, "sh"],
          ...["/usr/bin/prlimit", "--nofile=512", ...DOCTOR],
        ]),
      );
      assert.equal(found.get("/dev/fuse")!.state, "fails");
      assert.match(found.get("/dev/fuse")!.remedy!, /modprobe fuse.*--device/);
      assert.equal(found.get("mounting")!.state, "fails");
      assert.match(found.get("mounting")!.says, /\/dev\/fuse is missing/);
      for (const what of ["ffmpeg", "bash", "descriptors"]) {
        assert.equal(found.get(what)!.state, "limited", what);
      }
      assert.match(found.get("descriptors")!.says, /^512 .* 512 at most/);
    }),
});

Deno.test({
  name: "doctor if root may not mount, and fusermount3 is missing",
  ...needs("root", "setpriv"),
  fn: () =>
    withTempDir(async (dir) => {
      const found = reported(
        await run([
          ...["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
          ...["env", `PATH=${dir}`, ...DOCTOR],
        ]),
      );
      assert.equal(found.get("fusermount3")!.state, "fails");
      assert.match(found.get("fusermount3")!.remedy!, /fuse3/);
      assert.equal(found.get("mounting")!.state, "fails");
    }),
});

Deno.test({
  name:
    "doctor on a musl system reports that Deno's npm package does not support it",
  ...needs("root", "unshare"),
  fn: () =>
    withTempDir(async (dir) => {
      const found = reported(await run(onMusl(dir, DOCTOR)));
      assert.equal(found.get("C library")!.state, "limited");
      assert.match(
        found.get("C library")!.says,
        /Deno's npm package does not support/,
      );
      assert.match(found.get("C library")!.remedy!, /RECORDFS_DENO/);
    }),
});

Deno.test("doctor prints names of credentials, and no secret", () =>
  withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/.aws`);
    fs.writeFileSync(
      `${dir}/.aws/credentials`,
      "[default]\naws_access_key_id = hidden1\naws_secret_access_key = hidden2\n",
    );
    fs.writeFileSync(`${dir}/.aws/config`, "[profile training]\nregion = x\n");
    fs.writeFileSync(
      `${dir}/.netrc`,
      "machine data.example login hidden3 password hidden4\n",
    );
    const env = {
      HOME: dir,
      DENO_DIR: (await denoCaches()).denoDir,
      AWS_ACCESS_KEY_ID: "hidden5",
      AWS_SECRET_ACCESS_KEY: "hidden6",
      HTTPS_PROXY: "http://hidden7:hidden8@proxy.example",
      NO_PROXY: "127.0.0.1",
    };
    // Port 9 is blocked in browsers, and so in Deno's fetch.
    const url =
      "http://hidden9:hidden10@127.0.0.1:9/x.ffr?X-Amz-Signature=hidden11";
    const args = ["--timeout", "1", "--cache-dir", `${dir}/cache`, url];
    const ran = await run([...DOCTOR, ...args], { env });
    assert.doesNotMatch(ran.stdout + ran.stderr, /hidden/);
    const { ok, findings }: Report = JSON.parse(ran.stdout);
    assert.equal(ok, false);
    const says = (what: string) =>
      findings.find((one) => one.what === what)!.says;
    assert.equal(
      says("credentials"),
      "found: AWS_ACCESS_KEY_ID; HTTPS_PROXY; profiles default, training in ~/.aws; " +
        "data.example in netrc",
    );
    assert.match(says("location"), /127\.0\.0\.1:9\/x\.ffr/);
    assert.match(says("cache"), /\/cache, .*free/);
    assert.equal(fs.existsSync(`${dir}/cache`), false);
  }));
