/** A private certificate authority, made by openssl. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import type { Certificate } from "./local_server.ts";

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];

/** Certificate authority with its files in a directory. */
export class Authority {
  readonly #directory: string;
  #servers = 0;

  /** @param directory Directory to create. */
  constructor(directory: string) {
    this.#directory = directory;
    fs.mkdirSync(directory);
    openssl(directory, [
      ...["req", "-x509", ...NEW_KEY, "-noenc", "-days", "2"],
      ...["-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority"],
      ...["-addext", "basicConstraints=critical,CA:TRUE"],
    ]);
  }

  /** Path of the authority's certificate. */
  get path(): string {
    return `${this.#directory}/ca.pem`;
  }

  /** Issues a certificate for a server, by default for 127.0.0.1. */
  certify(name = "IP:127.0.0.1"): Certificate {
    const own = `server_${this.#servers++}`;
    const at = (suffix: string) => `${this.#directory}/${own}.${suffix}`;
    fs.writeFileSync(
      at("ext"),
      `subjectAltName=${name}\nbasicConstraints=CA:FALSE\n`,
    );
    openssl(this.#directory, [
      ...["req", ...NEW_KEY, "-noenc", "-keyout", at("key")],
      ...["-out", at("csr"), "-subj", "/CN=server"],
    ]);
    openssl(this.#directory, [
      ...["x509", "-req", "-in", at("csr"), "-CA", "ca.pem"],
      ...["-CAkey", "ca.key", "-CAcreateserial", "-days", "2"],
      ...["-extfile", at("ext"), "-out", at("pem")],
    ]);
    const text = (suffix: string) => fs.readFileSync(at(suffix), "utf8");
    return { key: text("key"), cert: text("pem") };
  }
}

function openssl(cwd: string, args: string[]): void {
  const { success, stderr } = new Deno.Command("openssl", { args, cwd })
    .outputSync();
  assert.ok(success, new TextDecoder().decode(stderr));
}
