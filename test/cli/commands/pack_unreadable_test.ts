/** Entries that a user may not read are problems of packing, found before anything is written. */
import assert from "node:assert/strict";
import { needs } from "../../support/programs/programs.ts";
import { asOrdinaryUser } from "../../support/programs/users.ts";

/** With `--allow-ffi`, entries are opened by descriptor, and otherwise by path. */
for (const permissions of [["-A"], ["--allow-read", "--allow-write"]]) {
  Deno.test({
    name: `an unreadable entry is named: ${permissions.join(" ")}`,
    ...needs("root"),
    fn: () =>
      asOrdinaryUser(async (user) => {
        const script = "mkdir -p in/unlistable in/closed in/fine && " +
          "echo x | tee in/secret in/unlistable/x in/closed/x in/fine/x && " +
          "chmod 0 in/secret && chmod 0300 in/unlistable && " +
          "chmod 0600 in/closed";
        await user.do("sh", "-c", script);
        const pack = (...options: string[]) =>
          user.run(
            ...[user.deno, "run", "--no-prompt", ...permissions] as const,
            `${user.project}cli.ts`,
            "pack",
            ...options,
            `${user.home}/in`,
            `${user.home}/out.ffr`,
          );
        try {
          const refused = await pack();
          assert.equal(refused.code, 1);
          const problems = ["closed", "secret", "unlistable"];
          for (const path of problems) {
            // By path, a directory that can be listed but not entered fails at each name.
            const line = new RegExp(`in/${path}(/x)?: permission denied`);
            assert.match(refused.stderr, line);
          }
          await user.do("test", "!", "-e", "out.ffr");
          const packed = await pack("--skip-problems");
          assert.equal(packed.code, 1);
          const { stdout } = await user.recordfs("ls", "-R", "out.ffr");
          const kept = stdout.trim().split("\n");
          assert.deepEqual(kept.filter((path) => path !== "closed"), [
            "fine",
            "fine/x",
          ]);
        } finally {
          await user.do("chmod", "-R", "u+rwx", "in");
        }
      }),
  });
}
