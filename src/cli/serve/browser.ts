import { variable } from "../../base/environment.ts";

/** What opens a link, by the system that this program was built for. */
const OPENERS: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  darwin: ["open"],
  windows: ["cmd", "/c", "start", ""],
};

/** Whether somebody sits before this machine, who has a browser. */
export function hasScreen(): boolean {
  if (isRemoteLogin()) return false;
  return Deno.build.os in OPENERS || variable("DISPLAY") !== undefined ||
    variable("WAYLAND_DISPLAY") !== undefined;
}

/** Whether this runs in a login from another machine. */
export function isRemoteLogin(): boolean {
  return variable("SSH_CONNECTION") !== undefined;
}

/** The line that makes a port of this machine one of the machine from which somebody has logged in. */
export function forwardLine(port: number): string {
  // `SSH_CONNECTION` is "client port server port" (sshd(8)).
  const address = variable("SSH_CONNECTION")?.split(" ")[2] ?? "HOST";
  const user = variable("USER") ?? variable("LOGNAME");
  const host = user === undefined ? address : `${user}@${address}`;
  return `ssh -N -L ${port}:127.0.0.1:${port} ${host}`;
}

/**
 * Opens a link in the browser. Arguments of programs can be seen by everyone on the machine: the browser is given a file
 * that leads there, which only its owner may read.
 *
 * @returns Removes the file; `undefined` if nothing could be opened.
 */
export function openBrowser(link: string): Disposable | undefined {
  const directory = Deno.makeTempDirSync({ prefix: "recordfs-view-" }); // mode 700
  const remove = () => Deno.removeSync(directory, { recursive: true });
  const path = `${directory}/open.html`;
  const [program, ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  try {
    Deno.writeTextFileSync(path, pageTo(link), { mode: 0o600 });
    const child = new Deno.Command(program!, {
      args: [...args, path],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    child.unref();
    child.status.catch(() => {}); // whether it has opened shows on the screen
    return { [Symbol.dispose]: remove };
  } catch {
    remove();
    return undefined;
  }
}

/** @param link Of characters that mean nothing in HTML. */
function pageTo(link: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
    `<meta http-equiv="refresh" content="0; url=${link}"><a href="${link}">recordfs</a>\n`;
}
