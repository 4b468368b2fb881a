import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { CONTROL_PATH, type EdgeOrder } from "./faulty/fault-control.ts";
import { ProcessGroup } from "./process-group.ts";
import type { Guardian } from "./start-guardian.ts";

interface EdgeSetup {
  readonly port: number;
  readonly dataDir: string;
  readonly bootstrapSecret: string;
  readonly guardian: Guardian;
}

/** The edge, in processes that can be killed and started again on the same state and port. */
export class ChaosEdge {
  readonly url: string;
  readonly #setup: EdgeSetup;
  readonly #log: WriteStream;
  #group: ProcessGroup | null = null;

  constructor(setup: EdgeSetup) {
    this.#setup = setup;
    this.url = `http://127.0.0.1:${setup.port}`;
    this.#log = createWriteStream(join(setup.dataDir, "edge.log"), { flags: "a" });
  }

  /** Starts it and waits until it listens. */
  async start(): Promise<void> {
    const { guardian, ...options } = this.#setup;
    const require = createRequire(createRequire(import.meta.url).resolve("miniflare"));
    const { default: workerd } = require("workerd") as { readonly default: string };
    this.#group = new ProcessGroup({
      program: join(import.meta.dirname, "edge-process.ts"),
      parameters: [JSON.stringify(options)],
      environment: {
        ...process.env,
        CHAOS_WORKERD: workerd,
        MINIFLARE_WORKERD_PATH: join(import.meta.dirname, "workerd-bearing-full-disks.sh"),
      },
      log: this.#log,
      guardian,
    });
    const ended = this.#group.exited.then((how) => {
      throw new Error(`the edge did not start (${how}); see ${String(this.#log.path)}`);
    });
    await Promise.race([once(this.#group.process, "message"), ended]);
  }

  /** Ends node and workerd at the same moment. */
  async kill(): Promise<void> {
    await this.#end((group) => group.signal("SIGKILL"));
  }

  /** Ends it in peace; gives the processes that stayed all the same. */
  async stop(): Promise<number[]> {
    const left = await this.#end((group) => void group.process.kill("SIGTERM"));
    this.#log.end();
    return left;
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#group?.signal(signal);
  }

  async pids(): Promise<number[]> {
    return (await this.#group?.members()) ?? [];
  }

  /** Sends the edge its faults; throws where it does not answer. */
  async order(order: EdgeOrder): Promise<void> {
    const headers = { connection: "close" };
    const response = await fetch(`${this.url}${CONTROL_PATH}`, {
      method: "POST",
      headers,
      body: JSON.stringify(order),
    });
    if (!response.ok) throw new Error(`the edge refused an order: ${response.status}`);
  }

  /** Gives the processes that stayed. */
  async #end(end: (group: ProcessGroup) => void): Promise<number[]> {
    const group = this.#group;
    if (group === null) return [];
    end(group);
    await group.exited;
    return group.endOrphans();
  }
}
