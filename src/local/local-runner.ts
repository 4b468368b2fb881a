import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, type FileHandle, open, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../client/client.ts";
import { readCredential, writeCredential } from "../gpu-runner/link/registration.ts";
import { endpoints } from "../protocol/endpoints.ts";

/**
 * Environment of the local runner: with a registration token where the edge does not know it (any
 * more). The runner itself spends the token at the public registration route.
 */
export async function prepareLocalRunner(
  client: Client,
  edgeUrl: string,
  dataDir: string,
): Promise<Record<string, string>> {
  const runnerDir = join(dataDir, "runner");
  const environment = { MILLRACE_EDGE: edgeUrl, MILLRACE_RUNNER_DIR: runnerDir, MILLRACE_RUNNER_NAME: "local" };
  const stored = await readCredential(runnerDir).catch(() => null);
  if (stored !== null && (await isKnown(client, stored.runnerId))) {
    // The same edge may stand on another port now.
    const linkUrl = new URL(new URL(stored.linkUrl).pathname, edgeUrl.replace("http", "ws")).href;
    await writeCredential(runnerDir, { ...stored, edgeUrl, linkUrl });
    return environment;
  }
  await rm(join(runnerDir, "credential.json"), { force: true });
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  return { ...environment, MILLRACE_TOKEN: token };
}

async function isKnown(client: Client, id: string): Promise<boolean> {
  return client.call(endpoints.getRunner, { params: { id } }).then(
    () => true,
    () => false,
  );
}

/**
 * Renames a log larger than `maxBytes` to `<path>.1`, replacing the one before. A process that has it open for
 * appending goes on from its start; lines written in between are lost.
 */
export async function rotateLog(path: string, maxBytes: number): Promise<boolean> {
  if ((await stat(path)).size <= maxBytes) return false;
  await copyFile(path, `${path}.1`);
  await truncate(path);
  return true;
}

/** Default time for the runner to finish its jobs, and beyond it to hand the others back. */
const FINISH_MS = 2_000;
const BEYOND_MS = 3_000;
const RESTART_BACKOFF_MS = [200, 500, 2_000, 5_000];
const LONG_LIFE_MS = 10_000;
/** The log and the one before it are each about this long at most. */
const LOG_BYTES = 16 * 2 ** 20;
const LOG_LOOK_MS = 60_000;

export interface SupervisorOptions {
  readonly root: string;
  readonly dataDir: string;
  /** Environment of the runner (see its config). */
  readonly environment: Record<string, string>;
}

/** Keeps the local runner's process alive; its log goes to a file in the data folder. */
export class RunnerSupervisor {
  readonly #options: SupervisorOptions;
  readonly #log: FileHandle;
  #child: ChildProcess | null = null;
  #stopping = false;
  #shortLives = 0;
  #rotation: ReturnType<typeof setInterval> | undefined;

  private constructor(options: SupervisorOptions, log: FileHandle) {
    this.#options = options;
    this.#log = log;
  }

  static async start(options: SupervisorOptions): Promise<RunnerSupervisor> {
    const path = join(options.dataDir, "runner.log");
    const log = await open(path, "a");
    // A full disk must not stop the runner.
    const rotate = () => rotateLog(path, LOG_BYTES).catch(() => false);
    await rotate();
    const supervisor = new RunnerSupervisor(options, log);
    supervisor.#rotation = setInterval(() => void rotate(), LOG_LOOK_MS);
    supervisor.#spawn();
    return supervisor;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Asks the runner to stop and waits; after a grace period it is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#rotation);
    const child = this.#child;
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), this.#finishMs() + BEYOND_MS);
      await exited;
      clearTimeout(timer);
    }
    await this.#log.close();
  }

  #finishMs(): number {
    const told = { ...process.env, ...this.#options.environment }["MILLRACE_STOP_GRACE_MS"];
    return told === undefined ? FINISH_MS : Number(told);
  }

  #spawn(): void {
    const startedMs = performance.now();
    // The channel tells the runner when this process is gone, so that it does not outlive it.
    const child = spawn(process.execPath, [join(this.#options.root, "src/gpu-runner/main.ts")], {
      stdio: ["ignore", this.#log.fd, this.#log.fd, "ipc"],
      env: { ...process.env, ...this.#options.environment, MILLRACE_STOP_GRACE_MS: String(this.#finishMs()) },
    });
    this.#child = child;
    child.once("exit", () => void this.#restart(performance.now() - startedMs));
  }

  async #restart(livedMs: number): Promise<void> {
    this.#child = null;
    this.#shortLives = livedMs > LONG_LIFE_MS ? 0 : this.#shortLives + 1;
    if (this.#stopping) return;
    await delay(RESTART_BACKOFF_MS[Math.min(this.#shortLives, RESTART_BACKOFF_MS.length - 1)]);
    if (this.#stopping) return;
    this.#spawn();
  }
}
