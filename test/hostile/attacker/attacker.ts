import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { parseProblem } from "../../../src/protocol/wire/problem.ts";
import { Answers } from "./answers.ts";

/** What a request has beside its method and path. */
export interface Sent {
  /** Absent: the attacker's ordinary key; null: none. */
  readonly key?: string | null;
  /** Text and bytes are sent as they are, everything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  /** 0 where none came. */
  readonly status: number;
  readonly code: string | null;
  readonly bytes: Uint8Array;
}

/** An ordinary key, or an administrator's. */
export type KeyKind = "user" | "admin";

/** An attacker's project and keys. */
export interface AttackerOptions {
  readonly url: string;
  /** Of the scopes `infer`, `submit` and `read`. */
  readonly key: string;
  readonly adminKey: string;
  /** Opens a further project, as the operator does for anybody who asks, and gives a key of it. */
  readonly openProject: (kind: KeyKind) => Promise<string>;
}

/** Pause after a request without an answer: there may be no edge. */
const BROKEN_MS = 50;
const OCTETS = "application/octet-stream";

/** A tenant with bad intentions. Its work ends with its signal. */
export class Attacker {
  readonly answers = new Answers();
  readonly #options: AttackerOptions;
  readonly #ending = new AbortController();

  constructor(options: AttackerOptions) {
    this.#options = options;
    setMaxListeners(0, this.signal);
  }

  get url(): string {
    return this.#options.url;
  }

  get key(): string {
    return this.#options.key;
  }

  get adminKey(): string {
    return this.#options.adminKey;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  openProject(kind: KeyKind = "user"): Promise<string> {
    return this.#options.openProject(kind);
  }

  end(): void {
    this.#ending.abort();
  }

  /** Sends a request and counts its answer, whatever it is. `path` may be a URL of its own. */
  async ask(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    try {
      const answer = await this.#send(method, path, sent);
      this.answers.count([answer.status, answer.code].filter((part) => part !== null).join(" "));
      return answer;
    } catch {
      if (!this.signal.aborted) {
        this.answers.count("no answer");
        await delay(BROKEN_MS);
      }
      return { status: 0, code: null, bytes: new Uint8Array() };
    }
  }

  /** Sends a request that must succeed, as an administrator; gives what the reply's JSON says. */
  async make(method: string, path: string, sent: Sent = {}): Promise<any> {
    const { status, bytes } = await this.#send(method, path, { key: this.adminKey, ...sent });
    const text = new TextDecoder().decode(bytes);
    if (status < 200 || status > 299)
      throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 300)}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** So many callers at once, each of which asks again when it was answered, until the attack ends. */
  async flood(callers: number, ask: (count: number) => Promise<unknown>): Promise<void> {
    let count = 0;
    const call = async () => {
      while (!this.signal.aborted) await ask(count++);
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async #send(method: string, path: string, { key = this.key, body, headers }: Sent): Promise<Answer> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(new URL(path, this.url), {
      method,
      signal: this.signal,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": isBytes ? OCTETS : "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: isBytes || typeof body === "string" ? (body as string) : JSON.stringify(body),
      }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const code = response.ok ? null : (parseProblem(new TextDecoder().decode(bytes))?.problem.code ?? null);
    return { status: response.status, code, bytes };
  }
}
