import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { placement, report } from "../../edge/stack/health-samples.ts";
import { capabilities } from "../../edge/stack/samples.ts";
import type { Attacker } from "../attacker/attacker.ts";
import { openPlacement, openRunner } from "../attacker/own-runner.ts";
import { RawRunner, registerRunner, type Registered } from "../attacker/raw-runner.ts";
import { writeNetwork } from "../served-network.ts";
import type { Attack } from "./attack.ts";
import { largeResult } from "./job-attacks.ts";

const SMALL = { widths: [4, 16, 2], input: "observation", output: "logits" };
const OBSERVATION = { observation: { data: [[0, 0, 0, 0]] } };

/** Capabilities of nearly as many characters as they may have, none of whose kernels another runner has. */
function largeCapabilities(runner = 0): Capabilities {
  const [kernel] = capabilities.kernels;
  const description = "d".repeat(LIMITS.announcedTextLength);
  const length = Math.floor((LIMITS.announcedLength - 8_192) / JSON.stringify({ ...kernel, description }).length);
  const kernels = Array.from({ length }, (_, at) => ({ ...kernel!, name: `kernel-${runner}-${at}`, description }));
  return { ...capabilities, kernels: [...capabilities.kernels, ...kernels] };
}

/** Says one thing as fast as the socket takes it, and comes back whenever the edge ends it. */
async function rant(attacker: Attacker, registered: Registered, messageOf: (count: number) => string): Promise<void> {
  for (let count = 0; !attacker.signal.aborted;) {
    const runner = await RawRunner.online(attacker, registered);
    if (runner === null) continue;
    while (await runner.send(messageOf(count))) {
      attacker.answers.count("message sent");
      // What comes from the socket, its close among it, is heard between the messages.
      if (++count % 64 === 0) await new Promise(setImmediate);
    }
  }
}

/** A runner of the attacker's own that rants. */
function ranting(messageOf: (count: number) => string) {
  return async (attacker: Attacker) => {
    const registered = await registerRunner(attacker);
    return () => rant(attacker, registered, messageOf);
  };
}

export const LINK_ATTACKS: readonly Attack[] = [
  {
    name: "progress",
    does: "tens of thousands of messages of a job's progress on the socket of its own runner",
    prepare: async (attacker) => {
      const registered = await registerRunner(attacker);
      const runner = await RawRunner.online(attacker, registered);
      if (runner === null) throw new Error("the edge refused the attacker's runner");
      const { promise: offered, resolve } = Promise.withResolvers<{ lease: object }>();
      runner.onMessage = (message) => message.type === "offer" && resolve(message);
      const job = { kind: "benchmark", kernel: "triad", shape: { n: 64 }, runnerId: registered.runnerId };
      await attacker.make("POST", "/v1/jobs", { body: job });
      const { lease } = await offered;
      const progress = { phase: "p".repeat(64), done: 1, total: 2 };
      runner.close();
      return () => rant(attacker, registered, () => JSON.stringify({ type: "jobProgress", lease, progress }));
    },
  },
  {
    name: "capabilities",
    does: "capabilities as large as they may be, again and again",
    prepare: (attacker) => {
      const message = JSON.stringify({ type: "capabilities", capabilities: largeCapabilities() });
      return ranting(() => message)(attacker);
    },
  },
  {
    name: "many-runners",
    does: "a hundred runners with capabilities as large as they may be, each with others, and work for all of them",
    prepare: async (attacker) => {
      for (let opened = 0; opened < 100; opened++) await openRunner(attacker, () => null, largeCapabilities(opened));
      const encode = { symbols: ["a"], dimension: 4, budgetMs: 1_000 };
      const benchmark = { kind: "benchmark", kernel: "triad", shape: { n: 64 } };
      return () =>
        attacker.flood(10, (count) =>
          count % 2 === 0
            ? attacker.ask("POST", "/v1/hrr/encode", { body: encode })
            : attacker.ask("POST", "/v1/jobs", { body: benchmark }),
        );
    },
  },
  {
    name: "reconnects",
    does: "eight runners that connect, say hello and close in a loop",
    prepare: async (attacker) => {
      const registered: Registered[] = [];
      for (let index = 0; index < 8; index++) registered.push(await registerRunner(attacker, `reconnecting-${index}`));
      return () =>
        Promise.all(
          registered.map(async (each) => {
            while (!attacker.signal.aborted) (await RawRunner.online(attacker, each))?.close();
          }),
        );
    },
  },
  {
    name: "health",
    does: "health reports of as many placements as one may have, without a pause",
    prepare: (attacker) => {
      const spread = Array.from({ length: 200 }, (_, index) => 1.1 ** index);
      const placements = Array.from({ length: LIMITS.watchedPlacements }, () => placement(spread));
      const told = JSON.stringify({ type: "health", requestId: null, report: report(0, { placements }) });
      return ranting(() => told)(attacker);
    },
  },
  { name: "echoes", does: "echoes without a pause", prepare: ranting((id) => JSON.stringify({ type: "echo", id })) },
  {
    name: "unknown-messages",
    does: "messages of a megabyte and of a type that nobody knows",
    prepare: (attacker) => {
      const message = JSON.stringify({ type: "tirade", numbers: Array.from({ length: 500_000 }, () => 0) });
      return ranting(() => message)(attacker);
    },
  },
  {
    name: "large-outcomes",
    does: "outcomes as long as they may be, with a result as large as it may be, of a job that it does not hold",
    prepare: (attacker) => {
      const outcome = { ok: true, result: largeResult(), deviceKey: "gpu0", startedAt: "2026-11-21T09:30:00.000Z" };
      const trace = "[".padEnd(LIMITS.outcomeTextLength - 2_000_000);
      const lease = { jobId: createId("job"), epoch: 1 };
      const message = JSON.stringify({ type: "jobOutcome", lease, outcome: { ...outcome, trace } });
      return ranting(() => message)(attacker);
    },
  },
  {
    name: "rooflines",
    does: "roofs of a device as large as they may be",
    prepare: (attacker) => {
      const none = { measuredAt: "2026-11-21T09:30:00.000Z", tookMs: 1, loadAverage: 0 };
      const gflops = { float32: null, float16: null, int8: null };
      const gigabytesPerSecond = { triad: null, copy: null, read: null };
      const roofline = { ...none, gflops, gigabytesPerSecond, missing: { float32: "m".repeat(7_500) } };
      const message = JSON.stringify({ type: "deviceRoofline", deviceKey: "gpu0", roofline });
      return ranting(() => message)(attacker);
    },
  },
  {
    name: "direct-outcomes",
    does: "outcomes of direct requests that nobody made, a thousand in each message",
    prepare: async (attacker) => {
      const { placementId, runner, ...registered } = await openPlacement(attacker, writeNetwork(SMALL, 5));
      runner.close();
      const times = { queueMs: 1, uploadMs: 1, computeMs: 1, readbackMs: 1 };
      const outcome = { placementId, rows: 1, ownRows: 1, totalMs: 4, times };
      const outcomes = Array.from({ length: LIMITS.directOutcomes }, () => outcome);
      const message = JSON.stringify({ type: "directOutcomes", outcomes });
      return () => rant(attacker, registered, () => message);
    },
  },
  {
    name: "silent-runner",
    does: "nine hundred inferences at once on its own runner, which never answers",
    prepare: async (attacker) => {
      const { placementId, model } = await openPlacement(attacker, writeNetwork(SMALL, 6));
      const body = { model, placementId, budgetMs: LIMITS.maxBudgetMs, onMiss: "best-effort", inputs: OBSERVATION };
      return () => attacker.flood(900, () => attacker.ask("POST", "/v1/infer", { body }));
    },
  },
  {
    name: "large-answers",
    does: "eight inferences at once that its own runner answers with 16 MiB each",
    prepare: async (attacker) => {
      const { placementId, model, runner } = await openPlacement(attacker, writeNetwork(SMALL, 7));
      const rows = (LIMITS.socketMessageBytes - 65_536) / 8;
      const logits: Tensor = { name: "logits", dtype: "float32", shape: [rows, 2], bytes: new Uint8Array(8 * rows) };
      runner.onFrame = ({ requestId }) => runner.answer(requestId, [logits]);
      const body = { model, placementId, budgetMs: 20_000, onMiss: "best-effort", inputs: OBSERVATION };
      return () => attacker.flood(8, () => attacker.ask("POST", "/v1/infer", { body }));
    },
  },
  {
    name: "edge-runs",
    does: "its own runner has the edge compute a dense network as long as one request may",
    prepare: async (attacker) => {
      const form = { widths: [1_000, 1_000, 8], input: "x", output: "y" };
      const { modelVersionId, credential } = await holdCalibration(attacker, writeNetwork(form, 8));
      const rowProducts = 1.1 * 2 ** 20;
      const repetitions = Math.floor(LIMITS.edgeRunProducts / rowProducts);
      const body = { modelVersionId, variant: "fp32", seed: 1, rows: 1, repetitions };
      return () => attacker.flood(20, () => attacker.ask("POST", "/v1/link/edge-runs", { key: credential, body }));
    },
  },
  {
    name: "artifact-ranges",
    does: "a hundred clients that read a file byte by byte with a runner's credential, which has no rate",
    prepare: async (attacker) => {
      const { digest, credential } = await openPlacement(attacker, writeNetwork(SMALL, 9));
      const ask = (count: number) =>
        attacker.ask("GET", `/v1/artifacts/${digest}`, { key: credential, headers: { range: `bytes=${count % 64}-` } });
      return () => attacker.flood(100, ask);
    },
  },
  {
    name: "item-search",
    does: "four searches at once for sixty-four vectors in a memory of forty parts, which its own runner answers",
    prepare: openLargeMemory,
  },
];

const HEARTBEAT_MS = 1_000;

/** A runner that was offered the calibration of a model, and never ends it. */
async function holdCalibration(attacker: Attacker, file: Uint8Array) {
  const registered = await registerRunner(attacker);
  const runner = await RawRunner.online(attacker, registered);
  if (runner === null) throw new Error("the edge refused the attacker's runner");
  const { promise: offered, resolve } = Promise.withResolvers<{ lease: object; spec: { modelVersionId: string } }>();
  runner.onMessage = (message) => message.type === "offer" && resolve(message);
  await attacker.make("POST", "/v1/models?name=own", { body: file });
  const { lease, spec } = await offered;
  const beat = setInterval(() => void runner.send({ type: "heartbeat", running: [lease] }), HEARTBEAT_MS);
  attacker.signal.addEventListener("abort", () => clearInterval(beat), { once: true });
  return { ...registered, modelVersionId: spec.modelVersionId };
}

const MEMORY_PARTS = 40;
const PART_ITEMS = 1_000;

/** A memory whose keys are so long that each thousand of items is a part, and a runner that finds nothing in them. */
async function openLargeMemory(attacker: Attacker): Promise<() => Promise<unknown>> {
  const search = { ...capabilities.kernels[1]!, name: "hrr-search" };
  const announced = { ...capabilities, kernels: [...capabilities.kernels, search] };
  const { runner, runnerId } = await openRunner(attacker, () => null, announced);
  runner.onFrame = ({ requestId, shape }: { requestId: string; shape: Record<string, number> }) => {
    const count = shape["queries"]! * shape["items"]!;
    const bytes = new Uint8Array(Float32Array.from({ length: count }, () => Math.random()).buffer);
    runner.answer(requestId, [{ name: "cosines", dtype: "float32", shape: [count], bytes }], "computeResult");
  };
  const path = "/v1/item-memories";
  await attacker.make("POST", path, { body: { name: "large", dimension: 1 } });
  for (let part = 0; part < MEMORY_PARTS; part++) {
    const items = Array.from({ length: PART_ITEMS }, (_, at) => ({
      key: `${part}-${at}-`.padEnd(256, "k"),
      vector: [1],
    }));
    await attacker.make("POST", `${path}/large/items`, { body: { items, budgetMs: 10_000 } });
  }
  const queries = Array.from({ length: LIMITS.hrrQueries }, () => [1]);
  const limit = LIMITS.hrrMatchesOfAll / queries.length;
  const body = { queries, limit, budgetMs: 60_000, runnerId };
  return () => attacker.flood(4, () => attacker.ask("POST", `${path}/large/search`, { body }));
}
