import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { ComputeOffer } from "../protocol/inference/compute.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../protocol/wire/frame.ts";
import type { Capabilities } from "../protocol/fleet/hardware.ts";
import { LIMITS } from "../protocol/wire/limits.ts";
import {
  EdgeMessage,
  FrameOffer,
  type InferOffer,
  type Offer,
  type PlacedModel,
  parseText,
  type Welcome,
} from "../protocol/link.ts";
import { type Problem, ProblemError, toProblem } from "../protocol/wire/problem.ts";
import { DEFAULT_CONFIGURATION } from "../protocol/fleet/serving.ts";
import type { Tensor } from "../protocol/wire/tensor.ts";
import { traced } from "../telemetry/span.ts";
import type { DeviceFleet } from "./serving/device-fleet.ts";
import type { OutcomeReport } from "./link/outcome-report.ts";
import type { TicketKeys } from "./serving/direct/tickets.ts";
import { type LinkChannel, type LinkProbe, startHeartbeat } from "./link/link-channel.ts";
import type { ResidencyManager } from "./memory/residency-manager.ts";
import type { ModelLoader } from "./serving/model-loader.ts";
import { explainFailure, serveRequest, traceService } from "./serving/serve-request.ts";
import { refuseOffer } from "./link/versions.ts";
import { serveCompute } from "./serving/serve-compute.ts";
import type { SpanExport } from "./host/span-export.ts";
import type { Watch } from "./watch/watch.ts";
import type { JobRunner } from "./job-runner.ts";

export interface SessionParts {
  /** Current capabilities. */
  readonly capabilities: () => Capabilities;
  readonly fleet: DeviceFleet;
  readonly models: ModelLoader;
  readonly residency: Pick<ResidencyManager, "keepOnly" | "report" | "useOnDevice">;
  readonly probe: LinkProbe;
  readonly jobs: JobRunner;
  readonly channel: LinkChannel;
  readonly outcomes: Pick<OutcomeReport, "stop">;
  readonly ticketKeys: Pick<TicketKeys, "take">;
  readonly spans: Pick<SpanExport, "open">;
  readonly watch: Pick<Watch, "start" | "stop" | "configured" | "answer" | "watched">;
  /** Called once the runner has its one job; null: it takes any number. */
  readonly onOnlyJob: (() => void) | null;
  readonly logger: Logger;
}

/** Time after which an edge that accepts the socket and does not answer hello is dropped. */
const WELCOME_TIMEOUT_MS = 10_000;
/** Polling interval of a leaving runner until it may stop. */
const FINISH_LOOK_MS = 20;

/** Messages of the runner on its connections to the edge; jobs outlive a connection. */
export class Session {
  readonly #parts: SessionParts;
  #heartbeat: ReturnType<typeof startHeartbeat> | null = null;
  #abandon: () => void = () => undefined;
  /** Requests without an answer yet, which the edge may cancel. */
  readonly #answering = new Map<string, AbortController>();
  #edgeRelease: string | null = null;
  #unwelcome: ReturnType<typeof setTimeout> | undefined;
  /** `jobs`: running jobs are finished and none accepted; `all`: requests likewise. */
  #leaving: "no" | "jobs" | "all" = "no";

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  opened(socket: WebSocket, abandon: () => void): void {
    const { channel, capabilities, jobs } = this.#parts;
    this.#abandon = abandon;
    this.#unwelcome = setTimeout(abandon, WELCOME_TIMEOUT_MS);
    channel.attach(socket);
    channel.send({ type: "hello", capabilities: capabilities(), running: jobs.leases(), ...this.#jobsLeft() });
  }

  #jobsLeft(): { readonly jobsLeft?: number } {
    if (this.#leaving !== "no") return { jobsLeft: 0 };
    return this.#parts.onOnlyJob === null ? {} : { jobsLeft: 1 };
  }

  /** Reports changes since the hello to the edge; without a connection the next hello does. */
  capabilitiesChanged(): void {
    this.#parts.channel.send({ type: "capabilities", capabilities: this.#parts.capabilities() });
  }

  closed(): void {
    clearTimeout(this.#unwelcome);
    this.#parts.channel.detach();
    this.#heartbeat?.stop();
    this.#heartbeat = null;
    this.#parts.watch.stop();
  }

  /**
   * Refuses new jobs and finishes the running ones; then likewise for requests. Resolves when all is done, or after
   * `graceMs`: the rest is returned by `stopping`.
   */
  async finish(graceMs: number): Promise<void> {
    const { channel, jobs, logger } = this.#parts;
    const endMs = performance.now() + graceMs;
    logger.info({ jobs: jobs.leases().length, graceMs }, "leaving: finishing current work");
    this.#leaving = "jobs";
    channel.send({ type: "leaving" });
    while (jobs.leases().length > 0 && performance.now() < endMs) await delay(FINISH_LOOK_MS);
    this.#leaving = "all";
    while (this.#answering.size > 0 && performance.now() < endMs) await delay(FINISH_LOOK_MS);
  }

  stopping(): void {
    this.#parts.jobs.stop();
    this.#parts.outcomes.stop();
  }

  heard(): void {
    this.#heartbeat?.note();
  }

  received(data: string | Uint8Array): void {
    if (typeof data !== "string") return this.#receiveFrame(data);
    const parsed = parseText(EdgeMessage, data);
    if (parsed.ok) return this.#receive(parsed.message);
    const refusal = refuseOffer(data, this.#edgeRelease);
    if (refusal !== null) {
      this.#parts.channel.send(refusal);
      this.#parts.onOnlyJob?.();
    }
    const { reason, unknownType } = parsed;
    if (unknownType === undefined) this.#parts.logger.error({ reason }, "the edge sent an invalid message");
    else this.#parts.logger.warn({ unknownType }, "the edge sent a message of an unknown type");
  }

  #receive(message: EdgeMessage): void {
    const { jobs, probe, logger } = this.#parts;
    switch (message.type) {
      case "welcome":
        return this.#welcomed(message);
      case "offer":
        return this.#offered(message);
      case "jobSettled":
        return jobs.settled(message.lease);
      case "jobCancel":
        return jobs.cancel(message.lease);
      case "inferCancel":
        return this.#answering.get(message.requestId)?.abort();
      case "echoReply":
        return probe.answered(message.id);
      case "memoryRequest":
        void this.#reportMemory(message.requestId);
        return;
      case "healthRequest":
        return this.#parts.watch.answer(message.requestId);
      case "liveRequest":
        return this.#parts.watch.watched(message);
      case "configure":
        this.#parts.watch.configured(message.placed);
        return this.#serve(message.placed);
      case "ticketKey":
        return this.#parts.ticketKeys.take(message, performance.now());
      case "drain":
        logger.info(message.draining ? "draining: finishing current work" : "taking work again");
        return;
      case "refused":
        logger.error({ problem: message.problem }, "the edge refused this runner");
        return;
    }
  }

  #offered(offer: Offer): void {
    const { channel, jobs, onOnlyJob } = this.#parts;
    // An offer may be repeated.
    if (jobs.holds(offer.lease)) return;
    if (this.#leaving === "no") {
      jobs.accept(offer);
      return onOnlyJob?.();
    }
    // It was on its way, or the runner was resumed at the edge. An older edge would offer the job here again, unless
    // `leaving` comes first.
    channel.send({ type: "leaving" });
    jobs.decline(offer.lease);
  }

  #welcomed({ runnerId, version, intervals, placed }: Welcome): void {
    const { channel, jobs, residency, watch, logger } = this.#parts;
    logger.info({ runnerId, placed: placed.length, edgeRelease: version }, "connected");
    this.#edgeRelease = version ?? null;
    clearTimeout(this.#unwelcome);
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat(channel, intervals, () => jobs.leases(), this.#abandon);
    jobs.connected(intervals.resendMs);
    watch.start(intervals.watchMs, placed);
    const variants = placed.flatMap((model) => model.variants);
    const whole = variants.flatMap(({ digest, files }) => (files === undefined ? [digest] : []));
    const large = variants.flatMap(({ files = [] }) => files.map(({ digest }) => digest));
    residency.keepOnly(whole, large).catch((error: unknown) => logger.error({ error }, "cannot clear the disk"));
    this.#serve(placed);
    if (this.#leaving !== "no") channel.send({ type: "leaving" });
  }

  /** Loads placed models, and serves each there under the edge's configuration. */
  #serve(placed: readonly PlacedModel[]): void {
    const { fleet, logger } = this.#parts;
    for (const model of placed) {
      const onCpu = model.variants.map(({ name }) => ({ deviceKey: fleet.cpu.host.device.key, variant: name }));
      for (const place of model.places ?? onCpu) {
        this.#configure(model, place).catch((error: unknown) => logger.error({ error, place }, "cannot serve a model"));
      }
    }
  }

  async #configure(
    model: PlacedModel,
    { deviceKey, variant, configuration = DEFAULT_CONFIGURATION }: NonNullable<PlacedModel["places"]>[number],
  ): Promise<void> {
    const { fleet, models } = this.#parts;
    await models.configure(model, variant, fleet.find(deviceKey), configuration);
  }

  async #reportMemory(requestId: string): Promise<void> {
    const { channel, residency, logger } = this.#parts;
    try {
      channel.send({ type: "memoryReport", requestId, report: await residency.report() });
    } catch (error) {
      logger.error({ error }, "cannot report memory");
    }
  }

  #receiveFrame(frame: Uint8Array): void {
    const decoded = decodeFrame(frame);
    const offer = decoded.ok ? FrameOffer.safeParse(decoded.header) : null;
    const split = decoded.ok && offer?.success ? splitTensors(offer.data.tensors, decoded.payload) : null;
    if (!offer?.success || !split?.ok) {
      this.#parts.logger.error("the edge sent an invalid frame");
      return;
    }
    if (offer.data.type === "infer") void this.#infer(offer.data, split.tensors);
    else void this.#compute(offer.data, split.tensors);
  }

  #infer(offer: InferOffer, tensors: readonly Tensor[]): Promise<void> {
    const { fleet, models, spans } = this.#parts;
    const { deviceKey, variant, backend } = offer;
    const attributes = { "millrace.device": deviceKey, "millrace.variant": variant, "millrace.backend": backend };
    return this.#answer(
      offer.requestId,
      async (arrivedMs, signal) => {
        const details = { kind: "server", attributes } as const;
        const answer = await traced(spans.open(offer.traceparent), "infer", details, async (scope) => {
          const startMs = scope?.now() ?? 0;
          const served = await serveRequest({ fleet, models }, offer, tensors, arrivedMs, signal);
          traceService(scope, startMs, served);
          return served;
        });
        const { times, rows, backlogMs, faults, tensors: outputs } = answer;
        return [{ type: "inferResult", times, rows, backlogMs, ...(faults && { faults }) }, outputs];
      },
      (error) => explainFailure(models, offer, error),
    );
  }

  #compute(offer: ComputeOffer, tensors: readonly Tensor[]): Promise<void> {
    return this.#answer(
      offer.requestId,
      async (arrivedMs, signal) => {
        const { tensors: outputs, ...computed } = await serveCompute(this.#parts, offer, tensors, arrivedMs, signal);
        return [{ type: "computeResult", ...computed }, outputs];
      },
      toProblem,
    );
  }

  /** Answers a request by a frame, or sends the reason for a refusal. */
  async #answer(
    requestId: string,
    work: (arrivedMs: number, signal: AbortSignal) => Promise<[header: object, tensors: readonly Tensor[]]>,
    explain: (error: unknown) => Problem,
  ): Promise<void> {
    const { channel } = this.#parts;
    const arrivedMs = performance.now();
    const cancelling = new AbortController();
    this.#answering.set(requestId, cancelling);
    try {
      // The edge asks another one.
      if (this.#leaving === "all") throw new ProblemError("no-placement", "The runner is being stopped.");
      const [header, outputs] = await work(arrivedMs, cancelling.signal);
      const frame = encodeFrame({ ...header, requestId }, outputs);
      if (frame.byteLength > LIMITS.socketMessageBytes) {
        throw new ProblemError("backend-failed", `The outputs are larger than ${LIMITS.socketMessageBytes} bytes.`);
      }
      channel.sendRaw(frame);
    } catch (error) {
      const problem = explain(error);
      if (problem.code === "internal") this.#parts.logger.error({ error, requestId }, "a request failed unexpectedly");
      channel.send({ type: "inferFailed", requestId, problem });
    } finally {
      this.#answering.delete(requestId);
    }
  }
}
