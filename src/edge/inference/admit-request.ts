import type { InferWishes } from "../../protocol/inference/inference.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import { type Problem, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { calibratedLatencyMs, calibratedServiceMs } from "./predict/calibrated-service.ts";
import { type Candidate, type Choice, choosePlacement } from "./choose-placement.ts";
import { type Extent, fitRequest } from "./predict/fit-request.ts";
import { addLoading, isOnlyLearnt } from "./predict/predict-latency.ts";
import type { TensorSpec } from "../../protocol/models/model.ts";
import { countRowElements, countRows, matchInputs } from "../../protocol/models/model-inputs.ts";
import { type Outlook, placementWatch } from "./predict/placement-watch.ts";
import { findVersion, type InferCall, type Snapshot, snapshotWith, type Version } from "./snapshot.ts";
import { elapsedMs, untilDeadline } from "../clock.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
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
 * Finds the version and a placement whose prediction fits the rest of the budget. A second attempt avoids some.
 * For a ticket only runners with a listener count, and only the time spent there. Throws the problem that prevents it.
 */
export async function admitRequest(
  call: InferCall,
  input: InferInput | TicketInput,
  avoided: ((placement: LivePlacement) => boolean) | null = null,
): Promise<Admission> {
  const { env, arrivedAtMs, waitUntil } = call;
  // A model that was uploaded or placed a moment ago is not in an aged snapshot.
  const snapshot = await snapshotWith(call, (known) =>
    placementsOf(known, input).some(
      ({ id, runnerId }) =>
        (input.runnerId === undefined || runnerId === input.runnerId) &&
        (input.placementId === undefined || id === input.placementId),
    ),
  );
  const version = findVersion(snapshot, input.model);
  if (version === null) {
    const errors = [{ pointer: "#/model", message: "is not a model that was uploaded" }];
    throw new ProblemError("not-found", `There is no model ${input.model}.`, { errors });
  }
  const errors = input.tensors === null ? [] : matchInputs(version.inputs, input.tensors, input.pointerOf);
  if (errors.length > 0) throw invalidRequest(errors);
  if (input.profile !== undefined && !snapshot.profiles.has(input.profile)) {
    throw invalidRequest([{ pointer: "#/profile", message: "is not a hardware profile" }]);
  }
  const nowMs = Date.now();
  const isDirect = input.tensors === null;
  // A ticket's budget is for a later request: asking for it uses nothing up.
  const spentMs = isDirect ? 0 : elapsedMs(arrivedAtMs);
  const extent = input.tensors === null ? null : extentOf(version.inputs, input.tensors);
  const rows = extent?.rows ?? 1;
  const placements = reachableOf(placementsOf(snapshot, input), input, extent);
  const silent: LivePlacement[] = [];
  const unloaded: LivePlacement[] = [];
  const look = (placement: LivePlacement) => {
    const outlook = placementWatch.outlook(placement, rows, input.confidence, nowMs, spentMs);
    if (outlook.silentMs > 0) silent.push(placement);
    if (isDirect) return withoutWay(outlook);
    if (placement.backend !== "edge-wasm" || isLoaded(version, placement.variant)) return outlook;
    unloaded.push(placement);
    return addLoading(outlook, placement.loadMs);
  };
  const usualSpentMs = isDirect ? 0 : placementWatch.spentMs(input.confidence, nowMs);
  if (!isDirect && avoided === null) placementWatch.noteSpent(spentMs, nowMs);
  const calibratedMs = (placement: LivePlacement) =>
    (isDirect ? calibratedServiceMs : calibratedLatencyMs)(placement, rows, input.confidence);
  const choice = choosePlacement(
    avoided === null ? placements : placements.filter((placement) => !avoided(placement)),
    {
      wishes: input,
      spentMs,
      usualSpentMs,
      outlook: look,
      calibratedMs,
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
    const leftMs = input.budgetMs - spentMs - Math.min(outlook.aloneMs, calibratedMs(placement));
    const isDue = placementWatch.noteRefusal(placement, nowMs) && isOnlyLearnt(outlook, leftMs);
    probeNearest(call, choice.nearest, version, isDue || outlook.aloneMs > input.budgetMs);
  }
  if (choice.kind === "none") throw await noPlacement(call, version, input);
  if (choice.kind === "unattainable") {
    const { placement } = choice.nearest;
    const loadMs = unloaded.includes(placement) ? placement.loadMs : 0;
    const neededMs = nameNeededMs(placement, { rows, confidence: input.confidence, isDirect, loadMs, nowMs });
    throw new ProblemError(...unattainable(input, placement, neededMs));
  }
  throw new ProblemError(...refusalOf(choice, input, spentMs));
}

/** Probes the nearest placement behind a refusal, where it seems slow or is cold. */
function probeNearest(call: InferCall, { placement, outlook }: Candidate, { inputs }: Version, isSlow: boolean): void {
  if (isSlow || outlook.coldMs > 0) probePlacement(call, placement, inputs, isSlow ? "slow" : "cold");
}

interface Needed {
  readonly rows: number;
  readonly confidence: number;
  readonly isDirect: boolean;
  readonly loadMs: number;
  readonly nowMs: number;
}

/** Budget that the same request needs if it comes again at once; for a ticket, only the time at the runner. */
function nameNeededMs(placement: LivePlacement, { rows, confidence, isDirect, loadMs, nowMs }: Needed): number {
  const { beforeMs, coldMs, serviceMs, idleMs } = placementWatch.nameTimes(placement, rows, confidence, nowMs);
  return isDirect ? serviceMs : beforeMs + coldMs + loadMs + idleMs;
}

/** Reasons for a lack of placements, by version: known for this long in this isolate. */
const REASON_HOLDS_MS = 1_000;
const KEPT_REASONS = 1_024;
const reasons = new Map<string, { readonly untilMs: number; readonly reason: string }>();
/** Part of the rest of a budget in which the reason must come, so that the refusal is not late. */
const REASON_SHARE = 1 / 2;

/** Refusal for a version without any placement, with the state of its calibrations. */
async function noPlacement(
  { env, arrivedAtMs }: InferCall,
  { id, model }: Version,
  { budgetMs }: AdmissionInput,
): Promise<ProblemError> {
  const nowMs = Date.now();
  const known = reasons.get(id);
  let reason = known !== undefined && nowMs < known.untilMs ? known.reason : null;
  if (reason === null) {
    const leftMs = REASON_SHARE * Math.max(0, budgetMs - elapsedMs(arrivedAtMs));
    reason = (await untilDeadline(leftMs, explainLack(env, id))) ?? ".";
    if (reasons.size >= KEPT_REASONS) reasons.clear();
    reasons.set(id, { untilMs: nowMs + REASON_HOLDS_MS, reason });
  }
  return new ProblemError("no-placement", `No runner was calibrated for ${model} yet${reason}`, RETRY_LATER);
}

/** The end of a sentence; a failure to read the calibrations leaves it short. */
async function explainLack(env: ProjectEnv, versionId: string): Promise<string> {
  const calibrations = await jobQueue(env)
    .latestCalibrations(env.project, [versionId])
    .catch(() => []);
  const failed = calibrations.find(({ state }) => state === "failed");
  if (failed !== undefined) return `: its calibration failed on ${failed.runnerId}. ${failed.problem?.detail ?? ""}`;
  return calibrations.some(({ state }) => state === "waiting") ? ": its calibration waits or runs." : ".";
}

function placementsOf(snapshot: Snapshot, input: AdmissionInput): readonly LivePlacement[] {
  const version = findVersion(snapshot, input.model);
  return version === null ? [] : (snapshot.placements.get(version.id) ?? []);
}

function extentOf(specs: readonly TensorSpec[], tensors: readonly Tensor[]): Extent {
  return { rows: countRows(specs, tensors), elements: countRowElements(specs, tensors) };
}

/** Placements within reach of the request: for a ticket those with a listener, else all that accept its extent. */
function reachableOf(
  placements: readonly LivePlacement[],
  { model }: AdmissionInput,
  extent: Extent | null,
): readonly LivePlacement[] {
  if (extent !== null) return fitRequest(placements, extent);
  const listening = placements.filter(({ direct }) => direct);
  if (listening.length === 0 && placements.length > 0) {
    throw new ProblemError("no-listener", `No runner that serves ${model} takes direct requests.`);
  }
  return listening;
}

/** Outlook without the edge and the link. */
function withoutWay(outlook: Outlook): Outlook {
  return { ...outlook, linkMs: 0, aloneMs: outlook.serviceMs, coldMs: 0 };
}

type Refusal = ConstructorParameters<typeof ProblemError>;

/** Problem for the caller of a request that is not admitted. */
function refusalOf(
  choice: Exclude<Choice, { kind: "admitted" | "none" | "unattainable" }>,
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
      return [
        "runner-offline",
        `Every runner that could serve ${model} is silent, and not expected to answer in time.`,
        RETRY_SOON,
      ];
    case "offline":
      return ["runner-offline", `Every runner that serves ${model} is offline or draining.`, RETRY_SOON];
    case "unmatched":
      return ["no-placement", `No placement of ${model} is as was asked for: ${nameWishes(input)}.`, RETRY_LATER];
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
  return new ProblemError(...exceeded(arrivedAtMs)).problem;
}

function exceeded(arrivedAtMs: number): Refusal {
  return ["budget-exceeded", `No answer came within the budget; ${elapsedMs(arrivedAtMs)} ms have passed.`];
}
