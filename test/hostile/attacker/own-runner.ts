import { createProblem } from "../../../src/protocol/wire/problem.ts";
import type { Capabilities } from "../../../src/protocol/fleet/hardware.ts";
import { waitFor } from "../../e2e/local-stack.ts";
import { calibrationResult, capabilities } from "../../edge/stack/samples.ts";
import type { Attacker } from "./attacker.ts";
import { RawRunner, registerRunner, type Registered } from "./raw-runner.ts";

const STARTED_AT = "2026-11-21T09:30:00.000Z";

/** A runner of the attacker's own that is online, and what it is known by. */
export interface OwnRunner extends Registered {
  readonly runner: RawRunner;
}

/** A result for an offered job; null fails it. */
export type Work = (spec: any) => object | null;

/** Brings a runner online that does each job at once: calibrations, and others by `work`. */
export async function openRunner(
  attacker: Attacker,
  work: Work = () => null,
  announced: Capabilities = capabilities,
): Promise<OwnRunner> {
  const registered = await registerRunner(attacker);
  const runner = await RawRunner.online(attacker, registered, announced);
  if (runner === null) throw new Error("the edge refused the attacker's runner");
  runner.onMessage = ({ type, lease, spec }) => {
    if (type !== "offer") return;
    const result = spec.kind === "calibration" ? calibrationResult(spec.modelVersionId) : work(spec);
    const done = { ok: true, result, deviceKey: "gpu0", startedAt: STARTED_AT };
    const failed = { ok: false, problem: createProblem("backend-failed", "It will not.") };
    void runner.send({ type: "jobOutcome", lease, outcome: result === null ? failed : done });
  };
  return { ...registered, runner };
}

/** A model that the attacker's own runner serves. */
export interface OwnPlacement extends OwnRunner {
  readonly model: string;
  readonly modelVersionId: string;
  readonly digest: string;
  readonly placementId: string;
}

/** Has the attacker's own runner serve a network. */
export async function openPlacement(attacker: Attacker, file: Uint8Array): Promise<OwnPlacement> {
  const own = await openRunner(attacker);
  const model = "own";
  const { version } = await attacker.make("POST", `/v1/models?name=${model}`, { body: file });
  const placement = await placementOf(attacker, model, ({ runnerId }) => runnerId === own.runnerId);
  return { ...own, model, modelVersionId: version.id, digest: version.digest, placementId: placement.id };
}

/** Uploads a network, and waits until the shared runner has placed it by a backend. */
export async function placeNetwork(
  attacker: Attacker,
  model: string,
  file: Uint8Array,
  backend: "ort-cpu" | "edge-wasm" = "ort-cpu",
): Promise<void> {
  await attacker.make("POST", `/v1/models?name=${model}`, { body: file });
  await placementOf(attacker, model, (placement) => placement.backend === backend);
}

function placementOf(attacker: Attacker, model: string, isMeant: (placement: any) => boolean): Promise<any> {
  return waitFor(`${model} to be placed`, async () => {
    const { items } = await attacker.make("GET", `/v1/models/${model}/placements`);
    return items.find((placement: any) => placement.state === "eligible" && isMeant(placement));
  });
}
