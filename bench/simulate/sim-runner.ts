import { InferenceServer, type Answer } from "../../src/gpu-runner/serving/queue/inference-server.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../src/protocol/wire/tensor.ts";
import type { SimulatedHost } from "./fleet.ts";
import type { SimClock } from "./sim-clock.ts";

/** One tiny row: the duration of a batch is drawn, not computed. */
const ROW: readonly Tensor[] = [{ name: "row", dtype: "float32", shape: [1, 1], bytes: new Uint8Array(4) }];

/** A request as it arrives over the link. */
export interface Asked {
  readonly requestId: string;
  readonly modelVersionId: string;
  readonly budgetMs: number;
  readonly confidence: number;
  readonly maxRows: number | null;
}

/**
 * A runner of one device: the product's own queue and batches, on simulated time, before a device with calibrated
 * durations.
 * Once it is lost it sends nothing, and it starts again with nothing learnt.
 */
export class SimRunner {
  readonly host: SimulatedHost;
  /** Computed rows, and the busy time of the device. */
  rows = 0;
  busyMs = 0;
  readonly #clock: SimClock;
  readonly #uniform: () => number;
  #server: InferenceServer;
  #isUp = true;
  #warmAtMs = 0;

  constructor(host: SimulatedHost, clock: SimClock, uniform: () => number) {
    this.host = host;
    this.#clock = clock;
    this.#uniform = uniform;
    this.#server = this.#createServer();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Answers, throws a problem as a runner does, or never settles where the runner is lost meanwhile. */
  async serve({ requestId, modelVersionId, budgetMs, confidence, maxRows }: Asked): Promise<Answer> {
    const arrivedMs = this.#clock.nowMs;
    const server = this.#server;
    if (arrivedMs < this.#warmAtMs) await this.#clock.delay(this.#warmAtMs - arrivedMs);
    const request = { requestId, modelVersionId, variant: "fp32", budgetMs, confidence, maxRows, joins: true };
    const answer = await server.serve(request, ROW, arrivedMs).then(
      (given) => ({ given }),
      (error: unknown) => ({ error }),
    );
    if (server !== this.#server || !this.#isUp) return new Promise(() => {});
    if ("error" in answer) throw answer.error;
    return answer.given;
  }

  cancel(requestId: string): void {
    this.#server.cancel(requestId);
  }

  lose(): void {
    this.#isUp = false;
  }

  /** Brings the runner back; it first loads its models. */
  comeBack(): void {
    this.#isUp = true;
    this.#server = this.#createServer();
    this.#warmAtMs = this.#clock.nowMs + this.host.placements.reduce((sum, { loadMs }) => sum + loadMs, 0);
  }

  #createServer(): InferenceServer {
    const infer = async (modelKey: string, [input]: readonly Tensor[]) => {
      const rows = input!.shape[0]!;
      const service = this.host.services.get(modelKey.split("/")[0]!);
      if (service === undefined) throw new ProblemError("no-placement", `${this.host.id} does not serve ${modelKey}`);
      const computeMs = service(rows)(this.#uniform());
      await this.#clock.delay(computeMs);
      this.rows += rows;
      this.busyMs += computeMs;
      return { tensors: [{ ...input!, name: "answer" }], times: { uploadMs: 0, computeMs, readbackMs: 0 } };
    };
    return new InferenceServer({ infer }, () => this.#clock.nowMs);
  }
}
