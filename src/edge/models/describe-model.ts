import type { Steps } from "../../onnx/each-field.ts";
import { summariseModel } from "../../onnx/summarise-model.ts";
import type { ModelReport, ModelSummary, TensorSpec } from "../../protocol/models/model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { BoundedPlaces } from "../bounded-places.ts";
import { untilEntered } from "../heavy-places.ts";
import { type CheckedModel, checkModel, checkOutline } from "./check-model.ts";
import { listBackends } from "../store/models/list-backends.ts";
import { endShortTurn } from "../turns.ts";
import { readDenseModel } from "./read-dense-network.ts";

/** Stored description of a model's version. */
export interface ModelDescription {
  readonly inputs: TensorSpec[];
  readonly outputs: TensorSpec[];
  /** Null if the edge cannot compute the network itself. */
  readonly edgeParameters: number | null;
  readonly summary: ModelSummary;
}

type Described = { readonly ok: true; readonly description: ModelDescription } | Extract<CheckedModel, { ok: false }>;

/** Description of an ONNX file. Throws `invalid-model` with all errors where it cannot be used. */
export async function describeModel(file: Uint8Array): Promise<ModelDescription> {
  return orThrow(await inTurns(describe(file)));
}

/** The same by the outline of a large model, which the edge does not compute itself. */
export async function describeOutline(outline: Uint8Array): Promise<ModelDescription> {
  const checked = await inTurns(checkOutline(outline));
  if (!checked.ok) return orThrow(checked);
  const { inputs, outputs, model } = checked;
  return { inputs, outputs, edgeParameters: null, summary: summariseModel(model) };
}

function orThrow(described: Described): ModelDescription {
  if (described.ok) return described.description;
  const { problems: errors } = described;
  throw new ProblemError("invalid-model", `The model cannot be used: ${errors[0]?.message}.`, { errors });
}

/** The same as a report, whether or not the file can be used. */
export async function reportModel(file: Uint8Array): Promise<ModelReport> {
  const described = await inTurns(describe(file));
  if (described.ok) {
    const { description } = described;
    return { ok: true, ...description, backends: listBackends({ ...description, files: [] }), problems: [] };
  }
  const nothing = { inputs: [], outputs: [], edgeParameters: null, summary: null, backends: [] };
  return { ok: false, ...nothing, problems: described.problems };
}

/** From so many parts on, a graph is large: the most that a file may have take some 52 MB of an isolate's 128. */
const LARGE_PIECES = 2 ** 15;
/** The one large graph of this isolate, from its survey to its answer. */
export const largeGraph = new BoundedPlaces({ ofOne: 1, ofAll: 1, leaseMs: 30_000 });

/**
 * Does the steps in turns with other requests, after a first turn: many requests may come at once. Of large graphs, one
 * is worked on at a time. Throws `overloaded` where its turn does not come in time.
 */
async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  let place: object | null = null;
  try {
    for (;;) {
      await endShortTurn();
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value !== undefined && value >= LARGE_PIECES) place ??= await waitForPlace();
    }
  } finally {
    if (place !== null) largeGraph.leave(place);
  }
}

async function waitForPlace(): Promise<object> {
  const place = await untilEntered((nowMs) => largeGraph.enter("any", nowMs));
  if (place !== null) return place;
  const detail = "Other models of many parts are checked first: send it again, or fewer at once.";
  throw new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}

function* describe(file: Uint8Array): Steps<Described> {
  const checked = yield* checkModel(file);
  if (!checked.ok) return checked;
  const { inputs, outputs, model } = checked;
  yield;
  const dense = readDenseModel(model, checked);
  yield;
  const edgeParameters = dense.ok ? dense.network.parameters : null;
  return { ok: true, description: { inputs, outputs, edgeParameters, summary: summariseModel(model) } };
}
