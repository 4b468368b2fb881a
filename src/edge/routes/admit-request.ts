import type { InferWishes } from "../../protocol/inference.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Tensor } from "../../protocol/tensor.ts";
import { type Candidate, choosePlacement } from "../budget/choose-placement.ts";
import { addColdStart, countRows, fitEdge } from "../budget/fit-edge.ts";
import { matchInputs } from "../../protocol/match-inputs.ts";
import { recentOverhead } from "../budget/overhead-window.ts";
import { type Prediction, predictLatency } from "../budget/predict-latency.ts";
import { findVersion, type Snapshot, snapshotWith, type Version } from "../budget/snapshot.ts";
import type { Env } from "../config.ts";
import { invalidRequest } from "../http/bind.ts";
import type { LivePlacement } from "../store/placement-store.ts";
import { type EdgeVersion, isLoaded, warmNetwork } from "../wasm/edge-networks.ts";

/** What a placement is chosen for. */
export interface AdmissionInput extends InferWishes {
  readonly model: string;
}

/** An inference request, whatever it came as. */
export interface InferInput extends AdmissionInput {
  readonly tensors: Tensor[];
  /** Where an input of this name stands in the request; of the empty name, where they all do. */
  readonly pointerOf: (name: string) => string;
}

/** Where an admitted request runs, and what it asked for. */
export interface Admission {
  readonly subject: string;
  readonly model: string;
  readonly version: number;
  /** The version's file, which the edge computes by itself where it was placed there. */
  readonly source: EdgeVersion;
  readonly candidate: Candidate;
}

/** A request for a ticket: its tensors go to the runner itself. */
interface TicketInput extends AdmissionInput {
  readonly tensors: null;
}

/**
 * Finds the version and a placement whose prediction fits what is left of the budget. For a ticket only
 * runners with a listener count, and only what happens there.
 */
export async function admitRequest(
  env: Env,
  input: InferInput | TicketInput,
  arrivedAtMs: number,
  waitUntil: (work: Promise<unknown>) => void,
): Promise<Admission> {
  // A model that was uploaded or placed a moment ago is not in an aged snapshot.
  const snapshot = await snapshotWith(env, waitUntil, (known) => placementsOf(known, input).length > 0);
  const version = findVersion(snapshot, input.model);
  if (version === null) {
    const errors = [{ pointer: "#/model", message: "is not a model that was uploaded" }];
    throw new ProblemError("not-found", `There is no model ${input.model}.`, { errors });
  }
  const errors = input.tensors === null ? [] : matchInputs(version.inputs, input.tensors, input.pointerOf);
  if (errors.length > 0) throw invalidRequest(errors);
  const leftMs = input.budgetMs - (Date.now() - arrivedAtMs);
  const placements = reachableOf(placementsOf(snapshot, input), version, input);
  const cold = placements.filter((each) => each.backend === "edge-wasm" && !isLoaded(version, each.variant));
  const choice = choosePlacement(placements, leftMs, (placement) => {
    const prediction = predictLatency(placement, recentOverhead(placement.runnerId), input.confidence);
    if (input.tensors === null) return withoutWay(prediction);
    return addColdStart(prediction, cold.includes(placement) ? placement.loadMs : 0);
  });
  for (const placement of cold) {
    const isChosen = choice.kind === "admitted" && choice.candidate.placement === placement;
    if (!isChosen) warmNetwork(env, version, placement.variant, waitUntil);
  }
  switch (choice.kind) {
    case "admitted":
      return {
        source: version,
        subject: `${version.model}@${version.version}`,
        model: version.model,
        version: version.version,
        candidate: choice.candidate,
      };
    case "unattainable":
      // What the edge itself used up of the budget is no fault of the request.
      if (choice.nearest.prediction.latencyMs <= input.budgetMs) throw budgetExceeded(arrivedAtMs);
      throw unattainable(input, choice.nearest);
    case "offline":
      throw new ProblemError("runner-offline", `Every runner that serves ${input.model} is offline or draining.`, {
        retryAfterMs: 1_000,
      });
    case "none":
      throw new ProblemError("no-placement", `No runner was calibrated for ${input.model} yet.`, {
        retryAfterMs: 2_000,
      });
  }
}

/** The placements that a request can be sent to; for a ticket those of runners with a listener, of which there has to be one. */
function reachableOf(
  placements: readonly LivePlacement[],
  version: Version,
  { model, tensors }: InferInput | TicketInput,
): readonly LivePlacement[] {
  if (tensors !== null) return fitEdge(placements, countRows(version.inputs, tensors));
  const listening = placements.filter(({ direct }) => direct);
  if (listening.length > 0 || placements.length === 0) return listening;
  throw new ProblemError("no-listener", `No runner that serves ${model} takes direct requests.`);
}

/** What of a prediction holds where neither edge nor link are on the way. */
function withoutWay(prediction: Prediction): Prediction {
  return { ...prediction, latencyMs: prediction.latencyMs - prediction.linkMs, linkMs: 0 };
}

function placementsOf(snapshot: Snapshot, input: AdmissionInput) {
  const version = findVersion(snapshot, input.model);
  const placements = version === null ? [] : (snapshot.placements.get(version.id) ?? []);
  return input.runnerId === undefined ? placements : placements.filter(({ runnerId }) => runnerId === input.runnerId);
}

function unattainable(input: AdmissionInput, nearest: Candidate): ProblemError {
  const { placement, prediction } = nearest;
  const fits = {
    budgetMs: Math.ceil(prediction.latencyMs * 100) / 100,
    placementId: placement.id,
    variant: placement.variant,
    confidence: input.confidence,
  };
  const detail = `The fastest placement needs ${fits.budgetMs} ms at a confidence of ${input.confidence}; the budget is ${input.budgetMs} ms.`;
  return new ProblemError("budget-unattainable", detail, {
    errors: [{ pointer: "#/budgetMs", message: `must be at least ${fits.budgetMs}` }],
    fits,
  });
}

export function budgetExceeded(arrivedAtMs: number): ProblemError {
  const passedMs = Date.now() - arrivedAtMs;
  return new ProblemError("budget-exceeded", `No answer came within the budget; ${passedMs} ms have passed.`);
}
