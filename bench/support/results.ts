/** Result files: one a machine and day, with a section a benchmark. */
import * as fs from "node:fs";
import * as os from "node:os";
import { type Row, table } from "./report.ts";

const FOLDER = new URL("../results/", import.meta.url);

/**
 * Writes a benchmark's table into the file of this machine and day, replacing an existing one.
 *
 * @returns Name of the file.
 */
export function saveResults(
  name: string,
  rows: readonly Row[],
  now = new Date(),
): string {
  const day = now.toISOString().slice(0, 10);
  const { model } = os.cpus()[0] ?? { model: "unknown" };
  const file = `${machineName(model)}-${day}.md`;
  const url = new URL(file, FOLDER);
  fs.mkdirSync(FOLDER, { recursive: true });
  const text = fs.existsSync(url)
    ? fs.readFileSync(url, "utf8")
    : `# Results: ${model}, ${day}\n\n${machineFacts()}\n`;
  fs.writeFileSync(url, withSection(text, name, table(rows)));
  return file;
}

/** Returns a processor's name as a file name: `AMD EPYC 7763 64-Core Processor` becomes `amd-epyc`. */
export function machineName(model: string): string {
  const words = model.replaceAll(/\((R|TM)\)/gi, "").toLowerCase()
    .match(/[a-z0-9]+/g) ?? ["unknown"];
  return words.slice(0, 2).join("-");
}

/** Returns the text with the named section replaced, or appended if missing. */
export function withSection(
  text: string,
  name: string,
  content: string,
): string {
  const section = `## ${name}\n\n${content}`;
  const start = text.indexOf(`\n## ${name}\n`);
  if (start < 0) return `${text.trimEnd()}\n\n${section}`;
  const next = text.indexOf("\n## ", start + 1);
  const rest = next < 0 ? "" : text.slice(next);
  return `${text.slice(0, start + 1)}${section}${rest}`;
}

function machineFacts(): string {
  const cpus = os.cpus();
  return `${cpus.length} CPUs (${cpus[0]?.model ?? "unknown"}), ` +
    `${
      Math.round(os.totalmem() / 2 ** 30)
    } GiB, ${os.type()} ${os.release()}, ` +
    `Deno ${Deno.version.deno}. Each table is one run.`;
}
