import type { InferWishes } from "../../protocol/inference/inference.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { createProblem, type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { calibratedLatencyMs, calibratedServiceMs, countRows } from "./predict/calibrated-service.ts";
import { type Choice, choosePlacement } from "./choose-placement.ts";
import { addLoading, fitEdge, predictIdleMs } from "./predict/predict-latency.ts";
import { matchInputs } from "../../protocol/models/model-inputs.ts";
import { namedConfidence } from "./predict/named-budgets.ts";
import { type Outlook, placementWatch } from "./predict/placement-watch.ts";
import { findVersion, type InferCall, type Snapshot, snapshotWith, type Version } from "./snapshot.ts";
import { elapsedMs } from "../clock.ts";
import type { LivePlacement } from "../store/fleet/live-placement-store.ts";
import { isLoaded, warmNetwork } from "./wasm/edge-networks.ts";
import { probePlacement } from "./ask-placement.ts";

/** Input of a placement's choice. */
export interface AdmissionInput extends InferWishes {
  readonly model: string;
}

/** An inference request, in whatever format it came. */
export interface InferInput extends AdmissionInput {
  readonly tensors: Tensor[];
  /** Place of the named input in the request; for the empty name, the place of all inputs. */
  readonly pointerOf: (name: string) => string;
  /** Set for a measurement by a runner, which the history does not keep as a request. */
  readonly isMeasurement?: boolean;
}

/** Confidence that a runner needs to accept a request; 0 for a best effort, which it must not refuse. */
export function confidenceOf({ onMiss, confidence }: Pick<InferWishes, "onMiss" | "confidence">): number {
  return onMiss === "best-effort" ? 0 : confidence;
}

/** Chosen place of an admitted request with the reasons, and the wishes of the request. */
export interface Admission extends Omit<Extract<Choice, { kind: "admitted" }>, "kind"> {
  readonly version: Version;
  readonly rows: number;
}

/** A request for a ticket: its tensors go to the runner itself. */
interface TicketInput extends AdmissionInput {
  readonly tensors: null;
}

/**
 * Finds the version and a placement whose prediction fits the rest of the budget, among those not `avoided`.
 * For a ticket only runners with a listener count, and only the time spent there. Throws the problem that prevents it.
 */
export async function admitRequest(
  call: InferCall,
  input: InferInput | TicketInput,
  avoided: (placement: LivePlacement) => boolean = NOBODY,
): Promise<Admission> {
  const { env, arrivedAtMs, waitUntil } = call;
  // A model that was uploaded or placed a moment ago is not in an aged snapshot.
  const snapshot = await snapshotWith(call, (known) =>
    placementsOf(known, env.project, input).some(
      ({ id, runnerId }) =>
        (input.runnerId === undefined || runnerId === input.runnerId) &&
        (input.placementId === undefined || id === input.placementId),
    ),
  );
  const version = findVersion(snapshot, env.project, input.model);
  if (version === null) {
    const errors = [{ pointer: "#/model", message: "is not a model that was uploaded" }];
    throw new ProblemError("not-found", `There is no model ${input.model}.`, { errors });
  }
  const errors = input.tensors === null ? [] : matchInputs(version.inputs, input.tensors, input.pointerOf);
  if (errors.length > 0) throw invalidRequest(errors);
  if (input.profile !== undefined && !snapshot.projects.get(version.project)?.profiles.has(input.profile)) {
    throw invalidRequest([{ pointer: "#/profile", message: "is not a hardware profile" }]);
  }
  const nowMs = Date.now();
  const isDirect = input.tensors === null;
  const rows = input.tensors === null ? 1 : countRows(version.inputs, input.tensors);
  const placements = reachableOf(placementsOf(snapshot, env.project, input), input, rows);
  const silent: LivePlacement[] = [];
  const unloaded: LivePlacement[] = [];
  const look = (placement: LivePlacement) => {
    const outlook = placementWatch.outlook(placement, rows, input.confidence, nowMs);
    if (outlook.isSilent) silent.push(placement);
    if (isDirect) return withoutWay(outlook);
    if (placement.backend !== "edge-wasm" || isLoaded(version, placement.variant)) return outlook;
    unloaded.push(placement);
    return addLoading(outlook, placement.loadMs);
  };
  // A ticket's budget is for a later request: asking for it uses nothing up.
  const spentMs = isDirect ? 0 : elapsedMs(arrivedAtMs);
  const usualSpentMs = isDirect ? 0 : placementWatch.spentMs(input.confidence, nowMs);
  if (!isDirect && avoided === NOBODY) placementWatch.noteSpent(spentMs, nowMs);
  const choice = choosePlacement(
    placements.filter((placement) => !avoided(placement)),
    {
      wishes: input,
      spentMs,
      usualSpentMs,
      outlook: look,
      calibratedMs: (placement) =>
        (isDirect ? calibratedServiceMs : calibratedLatencyMs)(placement, rows, input.confidence),
      random: Math.random,
    },
  );
  for (const placement of silent) probePlacement(call, placement, version.inputs, "silent");
  for (const placement of unloaded) {
    const isChosen = choice.kind === "admitted" && choice.candidate.placement === placement;
    if (!isChosen) warmNetwork(env, version, placement.variant, waitUntil);
  }
  if (choice.kind === "admitted") {
    const { candidate, fits, passedOver } = choice;
    return { version, rows, candidate, fits, passedOver };
  }
  if (choice.kind === "overloaded") {
    const { placement, outlook } = choice.nearest;
    const isSlow = predictIdleMs(outlook) > input.budgetMs;
    if (isSlow || outlook.coldMs > 0) probePlacement(call, placement, version.inputs, isSlow ? "slow" : "cold");
  }
  if (choice.kind === "unattainable") {
    const { placement, outlook } = choice.nearest;
    const { serviceMs, idleMs } = placementWatch.nameIdle(placement, rows, input.confidence, nowMs);
    const beforeMs = placementWatch.spentMs(namedConfidence(input.confidence), nowMs);
    const loadMs = unloaded.includes(placement) ? placement.loadMs : 0;
    const neededMs = isDirect ? serviceMs : beforeMs + outlook.coldMs + loadMs + idleMs;
    throw new ProblemError(...unattainable(input, placement, neededMs));
  }
  throw new ProblemError(...refusalOf(choice, input, spentMs));
}

const NOBODY = () => false;

function placementsOf(snapshot: Snapshot, project: string, input: AdmissionInput): readonly LivePlacement[] {
  const version = findVersion(snapshot, project, input.model);
  return version === null ? [] : (snapshot.placements.get(version.id) ?? []);
}

/** Placements within reach of the request: for a ticket those with a listener, else all that accept its rows. */
function reachableOf(
  placements: readonly LivePlacement[],
  { model, tensors }: InferInput | TicketInput,
  rows: number,
): readonly LivePlacement[] {
  if (tensors !== null) return fitEdge(placements, rows);
  const listening = placements.filter(({ direct }) => direct);
  if (listening.length === 0 && placements.length > 0) {
    throw new ProblemError("no-listener", `No runner that serves ${model} takes direct requests.`);
  }
  return listening;
}

/** Outlook without the edge and the link. */
function withoutWay(outlook: Outlook): Outlook {
  return { ...outlook, linkMs: 0, coldMs: 0 };
}

type Refusal = ConstructorParameters<typeof ProblemError>;

/** Problem for the caller of a request that is not admitted. */
function refusalOf(
  choice: Exclude<Choice, { kind: "admitted" | "unattainable" }>,
  input: AdmissionInput,
  spentMs: number,
): Refusal {
  const { model } = input;
  switch (choice.kind) {
    case "overloaded": {
      const { retryAfterMs } = choice;
      const detail = `Every placement that could meet the budget is predicted to be ${retryAfterMs} ms too late now.`;
      return ["overloaded", detail, { retryAfterMs }];
    }
    case "late": {
      // The edge itself used the time up, which is no fault of the request. No runner was asked.
      const { retryAfterMs } = choice;
      const detail = `The edge took ${spentMs} ms before it could ask a placement, which is ${retryAfterMs} ms more than usual.`;
      return ["overloaded", detail, { retryAfterMs }];
    }
    case "silent":
      return ["runner-offline", `Every runner that could serve ${model} has stopped answering.`, RETRY_SOON];
    case "offline":
      return ["runner-offline", `Every runner that serves ${model} is offline or draining.`, RETRY_SOON];
    case "unmatched":
      return ["no-placement", `No placement of ${model} is as was asked for: ${nameWishes(input)}.`, RETRY_LATER];
    case "none":
      return ["no-placement", `No runner was calibrated for ${model} yet.`, RETRY_LATER];
  }
}

const RETRY_SOON = { retryAfterMs: 1_000 };
const RETRY_LATER = { retryAfterMs: 2_000 };

function unattainable(input: AdmissionInput, placement: LivePlacement, neededMs: number): Refusal {
  const { confidence } = input;
  const budgetMs = Math.ceil(neededMs * 100) / 100;
  const fits = { budgetMs, placementId: placement.id, variant: placement.variant, confidence };
  const detail = `The fastest placement, idle, meets ${budgetMs} ms at a confidence of ${confidence}; the budget is ${input.budgetMs} ms.`;
  return [
    "budget-unattainable",
    detail,
    { errors: [{ pointer: "#/budgetMs", message: `must be at least ${budgetMs}` }], fits },
  ];
}

/** The fields that narrow the choice, as the request has them. */
function nameWishes({ runnerId, placementId, backend, profile, labels, minFidelity }: AdmissionInput): string {
  const given = {
    runnerId,
    placementId,
    backend,
    profile,
    labels,
    minFidelity: minFidelity === 0 ? undefined : minFidelity,
  };
  return JSON.stringify(given).slice(0, 500);
}

export function budgetExceeded(arrivedAtMs: number): Problem {
  return createProblem(...exceeded(arrivedAtMs));
}

function exceeded(arrivedAtMs: number): Refusal {
  return ["budget-exceeded", `No answer came within the budget; ${elapsedMs(arrivedAtMs)} ms have passed.`];
}
