import { type ChildProcess, spawn } from "node:child_process";
import { type WriteStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Guardian } from "./start-guardian.ts";

/** Longest time for the children of an ended program to notice its end, on a busy machine. */
const ORPHAN_GRACE_MS = 30_000;

interface GroupOptions {
  readonly program: string;
  readonly parameters?: readonly string[];
  readonly nodeOptions?: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly log: WriteStream;
  readonly guardian: Guardian;
}

/** A Node program in a group of processes of its own, so that it can be killed, stopped and looked through as a whole. */
export class ProcessGroup {
  readonly id: number;
  readonly process: ChildProcess;
  /** Settles when the program has ended; its children may live on. */
  readonly exited: Promise<string>;
  readonly #guardian: Guardian;

  constructor({ program, parameters = [], nodeOptions = [], environment, log, guardian }: GroupOptions) {
    this.process = spawn(process.execPath, [...nodeOptions, program, ...parameters], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: environment,
    });
    if (this.process.pid === undefined) throw new Error(`${program} cannot be started`);
    this.id = this.process.pid;
    this.#guardian = guardian;
    guardian.tell({ began: this.id });
    for (const stream of [this.process.stdout, this.process.stderr]) stream?.pipe(log, { end: false });
    this.exited = new Promise((resolve) => {
      this.process.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
    });
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Signals every process of the group. */
  signal(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.id, signal);
    } catch {
      // None is left.
    }
  }

  /** Live processes of the group; one that has ended but was not reaped is not. */
  async members(): Promise<number[]> {
    const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
    const found = await Promise.all(pids.map(async (pid) => ((await this.#isMember(pid)) ? [pid] : [])));
    return found.flat();
  }

  /** Waits until a group whose program has ended is empty; remaining processes are ended, and returned. */
  async endOrphans(): Promise<number[]> {
    let left = await this.members();
    for (const endMs = performance.now() + ORPHAN_GRACE_MS; left.length > 0 && performance.now() < endMs;) {
      await delay(100);
      left = await this.members();
    }
    if (left.length > 0) this.signal("SIGKILL");
    this.#guardian.tell({ ended: this.id });
    return left;
  }

  async #isMember(pid: number): Promise<boolean> {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    // Behind the program's name in brackets: state, parent, group (proc(5)).
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(group) === this.id && state !== "Z" && state !== "X";
  }
}
