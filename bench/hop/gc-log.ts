import { execFileSync } from "node:child_process";
import { constants, openSync } from "node:fs";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Span } from "./overlap-ms.ts";
import type { StackVariables } from "./start-stack.ts";

/** Pauses by garbage collectors, sorted by start. */
export type GcPauses = readonly Span[];

const RECORDER = new URL("record-gc.ts", import.meta.url);
/** Program of the edge, as Miniflare finds it. */
const { default: WORKERD } = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd") as {
  default: string;
};
/** `[pid:isolate] 1234 ms: Scavenge 5.0 (6.2) -> 4.1 (7.2) MB, …, 0.45 / 0.00 ms …` */
const LINE = /^\[\d+:(\w+)\]\s+(\d+) ms: .*?([\d.]+) \/ [\d.]+ ms/;

/** Records the collections of the edge and of the runner's processes, which must start with its variables. */
export class GcLog {
  readonly variables: StackVariables;
  readonly #folder: string;
  readonly #nodeLog: string;
  readonly #pipe: Socket;
  /** Collections of each of workerd's heaps by its own clock, and the smallest difference of that to ours. */
  readonly #heaps = new Map<string, { atMs: number; tookMs: number }[]>();
  readonly #offsets = new Map<string, number>();

  private constructor(folder: string, pipe: string) {
    this.#folder = folder;
    // Read and write without blocking: neither we nor workerd wait for the other end to open.
    this.#pipe = new Socket({ fd: openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK), writable: false });
    createInterface({ input: this.#pipe }).on("line", (line) => this.#note(line));
    this.#nodeLog = join(folder, "gc.log");
    this.variables = {
      edge: { MINIFLARE_WORKERD_PATH: join(folder, "workerd.sh"), MINIFLARE_WORKERD_V8_FLAGS: "--trace-gc" },
      runner: { NODE_OPTIONS: `--import=${RECORDER.href}?to=${encodeURIComponent(this.#nodeLog)}` },
    };
  }

  /**
   * Creates a folder for it. V8 writes collections of workerd to its standard output, which Miniflare does not pass on:
   * a script in between redirects it into a pipe that is read here.
   */
  static async open(): Promise<GcLog> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-gc-"));
    const pipe = join(folder, "gc.pipe");
    execFileSync("mkfifo", [pipe]);
    const log = new GcLog(folder, pipe);
    const script = log.variables.edge["MINIFLARE_WORKERD_PATH"] ?? "";
    await writeFile(log.#nodeLog, "");
    await writeFile(script, `#!/bin/sh\nexec "${WORKERD}" "$@" > "${pipe}"\n`);
    await chmod(script, 0o700);
    return log;
  }

  /** Call it once the stack has stopped. */
  async close(): Promise<void> {
    this.#pipe.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** All pauses so far. */
  async read(): Promise<GcPauses> {
    const ofNode = (await readFile(this.#nodeLog, "utf8")).split("\n").filter(Boolean);
    const ofEdge = [...this.#heaps].flatMap(([heap, collections]) =>
      collections.map(({ atMs, tookMs }) => {
        const toMs = atMs + (this.#offsets.get(heap) ?? 0);
        return { fromMs: toMs - tookMs, toMs };
      }),
    );
    const all = [...ofEdge, ...ofNode.map((line) => JSON.parse(line) as GcPauses[number])];
    return all.toSorted((a, b) => a.fromMs - b.fromMs);
  }

  /** The pipe is buffered, so lines arrive in bursts: the least delayed one gives the difference of the clocks. */
  #note(line: string): void {
    const [, heap, atText, tookText] = LINE.exec(line) ?? [];
    if (heap === undefined) return;
    const atMs = Number(atText);
    const offsetMs = performance.timeOrigin + performance.now() - atMs;
    this.#offsets.set(heap, Math.min(offsetMs, this.#offsets.get(heap) ?? Number.POSITIVE_INFINITY));
    this.#heaps.set(heap, [...(this.#heaps.get(heap) ?? []), { atMs, tookMs: Number(tookText) }]);
  }
}
