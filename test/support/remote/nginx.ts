import { startWebProgram, type WebProgram } from "./web_program.ts";

/**
 * Starts a real nginx, which answers when this returns. Its workers run as who calls, so that they may read what that one
 * may; what it keeps for a while lies in its own directory.
 *
 * @param config What stands in the `http` block, for a port to listen on, at 127.0.0.1, and a directory of its own.
 * @param main What stands before that block, such as `worker_processes 4;`.
 */
export function startNginx(
  config: (port: number, dir: string) => string,
  main = "worker_processes 1;",
): Promise<WebProgram> {
  return startWebProgram(
    "nginx",
    (dir) => ["-p", dir, "-e", `${dir}/error.log`, "-c", `${dir}/conf`],
    (port, dir) => whole(config(port, dir), main, dir),
  );
}

function whole(http: string, main: string, dir: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${dir}/${name};`);
  // Who is not root runs all of it as themselves anyway, and is warned of the line.
  const user = Deno.uid() === 0 ? "user root;" : "";
  return `daemon off; pid ${dir}/pid; ${user} ${main}
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.join("\n  ")}
  ${http}
}
`;
}
