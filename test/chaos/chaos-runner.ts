import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { LinkProxy } from "./faults/link-proxy.ts";
import { ProcessGroup } from "./process-group.ts";
import type { Guardian } from "./start-guardian.ts";

interface RunnerSetup {
  readonly name: string;
  readonly dataDir: string;
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly proxy: LinkProxy;
  readonly guardian: Guardian;
  /** Receives processes that outlived their runner, and unexpected ends. */
  readonly onOrphans: (runner: string, pids: readonly number[]) => void;
  readonly onEnd: (runner: string, how: string) => void;
}

const RESTART_MS = 500;

/** A runner behind a proxy of its own, kept alive as the supervisor of `npm start` does. */
export class ChaosRunner {
  readonly name: string;
  readonly proxy: LinkProxy;
  /** At the edge, once it is registered. */
  id = "";
  readonly #setup: RunnerSetup;
  readonly #log: WriteStream;
  readonly #watched = new Set<Promise<void>>();
  #group: ProcessGroup | null = null;
  #isWanted = false;

  constructor(setup: RunnerSetup) {
    this.#setup = setup;
    this.name = setup.name;
    this.proxy = setup.proxy;
    this.#log = createWriteStream(join(setup.dataDir, "runner.log"), { flags: "a" });
  }

  /** A token is spent by the first start. */
  start(token: Readonly<Record<string, string>> = {}): void {
    const { root, environment, guardian } = this.#setup;
    this.#isWanted = true;
    const group = new ProcessGroup({
      program: join(root, "src/gpu-runner/main.ts"),
      nodeOptions: ["--import", join(import.meta.dirname, "shift-date.ts")],
      environment: { ...process.env, ...environment, ...token },
      log: this.#log,
      guardian,
    });
    this.#group = group;
    const ended = group.exited.then((how) => this.#ended(group, how));
    this.#watched.add(ended);
    void ended.finally(() => this.#watched.delete(ended));
  }

  /** Ends the runner alone; its children have to notice. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends it in peace and waits for the last of its processes. */
  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    await Promise.all(this.#watched);
    this.#log.end();
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    if (this.#group?.isRunning === true) this.#group.process.kill(signal);
  }

  shiftClock(clockOffsetMs: number): void {
    if (this.#group?.process.connected === true) this.#group.process.send({ clockOffsetMs });
  }

  async pids(): Promise<number[]> {
    return (await this.#group?.members()) ?? [];
  }

  /** Processes that own its devices. */
  async devicePids(): Promise<number[]> {
    return (await this.pids()).filter((pid) => pid !== this.#group?.id);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    if (this.#group?.isRunning === true) this.#group.process.kill(signal);
    await this.#group?.exited;
  }

  async #ended(group: ProcessGroup, how: string): Promise<void> {
    const { onEnd, onOrphans } = this.#setup;
    const orphans = group.endOrphans().then((pids) => {
      if (pids.length > 0) onOrphans(this.name, pids);
    });
    if (this.#isWanted) {
      onEnd(this.name, how);
      await delay(RESTART_MS);
      // A kill of just now starts it itself.
      if (this.#isWanted && group === this.#group) this.start();
    }
    await orphans;
  }
}
