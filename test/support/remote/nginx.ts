import { startWebProgram, type WebProgram } from "./web_program.ts";

/**
 * Starts a real nginx, which responds when this returns. Its workers run as the caller, so that they can read the same
 * files. Its temporary files are in its own directory.
 *
 * @param config Returns the `http` block, for a port on 127.0.0.1 and nginx's own directory.
 * @param main Directives before that block, such as `worker_processes 4;`.
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
  // For a user other than root, the directive has no effect but a warning.
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
