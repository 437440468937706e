/** A server that listens on all addresses of a machine: the link that it prints, and the host names that it accepts. */
import assert from "node:assert/strict";
import {
  isAllAddresses,
  reachableAddresses,
} from "../../../src/serve/own_addresses.ts";
import { ffrBytes, packedSamples } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { CLI, runBash } from "../../cli/run_cli.ts";

Deno.test("all addresses have several spellings", () => {
  for (const all of ["0.0.0.0", "::", "0", "0.0", "0:0:0:0:0:0:0:0", "::0"]) {
    assert.ok(isAllAddresses(all), all);
  }
  for (const one of ["127.0.0.1", "::1", "10.0.0.0", "0.example", ""]) {
    assert.ok(!isAllAddresses(one), one);
  }
  for (const address of reachableAddresses()) {
    assert.doesNotMatch(address, /^(127\.|169\.254\.|\[::1\]|\[fe[89ab])/);
    assert.ok(URL.canParse(`http://${address}:8000/`), address);
  }
});

/** Runs a server in a network namespace with these addresses, and prints its link and the status of each request. */
const SCRIPT = `
ip link set lo up
ip address add 169.254.9.9/16 dev lo
ip address add 192.0.2.7/24 dev lo
ip -6 address add 2001:db8::7/64 dev lo nodad 2>/dev/null && six=1 || six=
"$0" run -A "$1" serve --host "$3" --port 0 --no-token --quiet "$2" >"$4" 2>/dev/null &
server=$!
for i in $(seq 600); do [ -s "$4" ] && break; sleep 0.1; done
link=$(cat "$4")
echo "$link"
port=\${link%/} port=\${port##*:}
ask() { curl -gs -o /dev/null -w '%{http_code} ' "$@"; }
ask "$link"
ask "http://192.0.2.7:$port/files/a.txt"
ask "http://127.0.0.1:$port/files/a.txt"
ask "http://169.254.9.9:$port/files/a.txt"
ask -H 'Host: evil.example' "http://192.0.2.7:$port/files/a.txt"
ask -H 'Host: 192.0.2.8' "http://192.0.2.7:$port/files/a.txt"
if [ "$3" = :: ] && [ -n "$six" ]; then ask "http://[2001:db8::7]:$port/files/a.txt"; fi
kill $server
wait $server
true
`;

for (const host of ["0.0.0.0", "::"]) {
  Deno.test({
    name:
      `serve --host ${host} prints a link that others can open, and responds at each own address`,
    ...needs("root", "unshare", "ip", "curl"),
    fn: () =>
      withTempDir(async (dir) => {
        const packed = packedSamples({ "a.txt": new Uint8Array(3) });
        await Deno.writeFile(`${dir}/a.ffr`, ffrBytes(packed));
        const args = [Deno.execPath(), CLI, `${dir}/a.ffr`, host, `${dir}/out`];
        const words = [SCRIPT, ...args].map((word) =>
          `'${word.replaceAll("'", "'\\''")}'`
        );
        const { stdout, stderr } = await runBash(
          `unshare --net bash -c ${words.join(" ")}`,
        );
        const [link, codes] = stdout.trim().split("\n");
        assert.match(link!, /^http:\/\/192\.0\.2\.7:\d+\/$/, stderr);
        assert.match(codes!, /^200 200 200 200 403 403( 200)?$/);
      }),
  });
}
