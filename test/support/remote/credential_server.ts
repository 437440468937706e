/**
 * Sources of AWS credentials, in this process, as AWS describes them: a token service (`AssumeRoleWithWebIdentity`), a
 * machine's metadata service (version 2), and a container's credentials.
 */
import type http from "node:http";
import type { BucketKeys } from "./bucket_server.ts";
import { LocalServer } from "./local_server.ts";

const METADATA = "/latest/meta-data/iam/security-credentials/";

/** Server of credentials, which returns new ones after the old have expired. */
export class CredentialServer extends LocalServer {
  /** Method and path of each request, in order. */
  readonly asked: string[] = [];
  /** How often credentials were returned. */
  given = 0;
  /** Lifetime of credentials returned from now on, in milliseconds. */
  lifetime = 3600_000;
  /** Whether every request fails. */
  isAway = false;
  /** Required token of a web identity. */
  identity = "";
  /** Number of the current credentials. */
  #number = 1;

  /** Starts a server. */
  static async start(): Promise<CredentialServer> {
    return await new CredentialServer().listen();
  }

  /** The currently valid credentials. */
  get keys(): BucketKeys {
    return {
      accessKeyId: `AKID${this.#number}`,
      secretAccessKey: `hidden${this.#number}`,
      sessionToken: `session${this.#number}`,
    };
  }

  /** Replaces the current credentials, which become invalid. */
  renew(): void {
    this.#number++;
  }

  protected async answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
  ): Promise<void> {
    const path = request.url!;
    this.asked.push(`${request.method} ${path}`);
    let body = "";
    for await (const chunk of request) body += chunk;
    const { headers } = request;
    const fail = (status: number) => void response.writeHead(status).end();
    if (this.isAway) return fail(500);
    if (request.method === "POST") return this.#answerTokens(body, response);
    if (request.method === "PUT" && path === "/latest/api/token") {
      return void response.end("metadata-token");
    }
    const json = { "content-type": "application/json" };
    if (path.startsWith(METADATA)) {
      if (headers["x-aws-ec2-metadata-token"] !== "metadata-token") {
        return fail(401);
      }
      if (path === METADATA) return void response.end("my-role");
      if (path !== `${METADATA}my-role`) return fail(404);
      response.writeHead(200, json).end(this.#asJson());
      return;
    }
    if (path !== "/container" || headers.authorization !== "let me in") {
      return fail(404);
    }
    response.writeHead(200, json).end(this.#asJson());
  }

  #answerTokens(body: string, response: http.ServerResponse): void {
    const form = new URLSearchParams(body);
    const isAsked = form.get("Action") === "AssumeRoleWithWebIdentity" &&
      form.get("RoleArn") === "arn:aws:iam::123456789012:role/reader" &&
      form.get("WebIdentityToken") === this.identity;
    if (!isAsked) {
      response.writeHead(400, { "content-type": "text/xml" }).end(
        "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code>" +
          "<Message>no</Message></Error></ErrorResponse>",
      );
      return;
    }
    const { accessKeyId, secretAccessKey, sessionToken } = this.#give();
    response.writeHead(200, { "content-type": "text/xml" }).end(
      '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">' +
        `<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId>` +
        `<SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken>` +
        `<Expiration>${this.#expiration()}</Expiration></Credentials>` +
        "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
    );
  }

  #asJson(): string {
    const { accessKeyId, secretAccessKey, sessionToken } = this.#give();
    return JSON.stringify({
      Code: "Success",
      Type: "AWS-HMAC",
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Token: sessionToken,
      Expiration: this.#expiration(),
    });
  }

  #give(): BucketKeys {
    this.given++;
    return this.keys;
  }

  #expiration(): string {
    return new Date(Date.now() + this.lifetime).toISOString();
  }
}
