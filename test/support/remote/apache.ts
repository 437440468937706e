import { startWebProgram, type WebProgram } from "./web_program.ts";

const MODULES = "/usr/lib/apache2/modules";

/**
 * Starts a real Apache that serves a directory. Every user must be able to read it, since Apache does not run as root.
 *
 * @param options `IndexOptions`, which determine how directories are listed.
 */
export function startApache(
  root: string,
  options: string,
): Promise<WebProgram> {
  const modules = ["mpm_event", "authz_core", "autoindex", "dir"].map((name) =>
    `LoadModule ${name}_module ${MODULES}/mod_${name}.so`
  );
  return startWebProgram(
    "apache2",
    (dir) => ["-d", dir, "-f", `${dir}/conf`, "-D", "FOREGROUND"],
    (port, dir) => `
${modules.join("\n")}
ServerName localhost
PidFile "${dir}/pid"
ErrorLog "${dir}/error.log"
${Deno.uid() === 0 ? "User www-data\nGroup www-data" : ""}
Listen 127.0.0.1:${port}
DocumentRoot "${root}"
<Directory "${root}">
  Options +Indexes
  Require all granted
  IndexOptions ${options}
</Directory>
`,
  );
}
