import assert from "node:assert/strict";
import {
  findMount,
  parseMountinfo,
  readMounts,
} from "../../../fuse/mounting/mountinfo.ts";

const text = [
  "22 27 0:21 / /proc rw,relatime - proc proc rw",
  "50 27 0:44 / /mnt/a\\040b rw,relatime shared:7 master:2 - fuse.recordfs /data/x\\134y ro,user_id=0",
  "51 27 0:45 / /mnt/a\\040b ro,nosuid - fuse.recordfs recordfs ro",
  "52 27 0:46 / /mnt/tab\\011here ro - tmpfs\\043 none rw",
  "a line of no known form",
  "",
].join("\n");

Deno.test("mountinfo lines are parsed, with any number of optional fields", () => {
  const entries = parseMountinfo(text);
  assert.equal(entries.length, 4);
  assert.deepEqual(entries[1], {
    device: "0:44",
    mountpoint: "/mnt/a b",
    type: "fuse.recordfs",
    source: "/data/x\\y",
    options: ["rw", "relatime"],
    superOptions: ["ro", "user_id=0"],
  });
  assert.equal(entries[3]?.mountpoint, "/mnt/tab\there");
  assert.equal(entries[3]?.type, "tmpfs#");
});

Deno.test("of mounts on top of each other the last one is found", () => {
  const entries = parseMountinfo(text);
  assert.equal(findMount(entries, "/mnt/a b")?.device, "0:45");
  assert.equal(findMount(entries, "/mnt"), undefined);
});

Deno.test("this system's own mountinfo is parsed", {
  ignore: Deno.build.os !== "linux",
}, () => {
  const mounts = readMounts();
  assert.ok(mounts.some(({ mountpoint }) => mountpoint === "/proc"));
});
