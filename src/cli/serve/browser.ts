import { variable } from "../../base/environment.ts";

/** Command that opens a link, by operating system. */
const OPENERS: Partial<Record<typeof Deno.build.os, readonly string[]>> = {
  darwin: ["open"],
  windows: ["cmd", "/c", "start", ""],
};

/** Whether the user probably sits at this machine and has a browser. */
export function hasScreen(): boolean {
  if (isRemoteLogin()) return false;
  return Deno.build.os in OPENERS || variable("DISPLAY") !== undefined ||
    variable("WAYLAND_DISPLAY") !== undefined;
}

/** Whether this runs in an SSH session. */
export function isRemoteLogin(): boolean {
  return variable("SSH_CONNECTION") !== undefined;
}

/** Command that forwards a port of this machine to the machine from which the user has logged in. */
export function forwardLine(port: number): string {
  // `SSH_CONNECTION` is "client port server port" (sshd(8)).
  const address = variable("SSH_CONNECTION")?.split(" ")[2] ?? "HOST";
  const user = variable("USER") ?? variable("LOGNAME");
  const host = user === undefined ? address : `${user}@${address}`;
  return `ssh -N -L ${port}:127.0.0.1:${port} ${host}`;
}

/**
 * Opens a link in the browser. Since everyone on the machine can see arguments of programs, the browser gets the path
 * of a file that redirects to the link and that only its owner may read. Disposing of the result removes the file.
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
    child.status.catch(() => {}); // the user sees whether it has opened
    return { [Symbol.dispose]: remove };
  } catch {
    remove();
    return undefined;
  }
}

/** @param link Must not contain characters that are special in HTML. */
function pageTo(link: string): string {
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">` +
    `<meta http-equiv="refresh" content="0; url=${link}"><a href="${link}">recordfs</a>\n`;
}
