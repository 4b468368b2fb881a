import { summariseModel } from "../../onnx/summarise-model.ts";
import type { ModelReport, ModelSummary, TensorSpec } from "../../protocol/models/model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type CheckedModel, checkModel, checkOutline } from "./check-model.ts";
import { listBackends } from "../store/models/list-backends.ts";
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
export function describeModel(file: Uint8Array): ModelDescription {
  return orThrow(describe(file));
}

/** The same by the outline of a large model, which the edge does not compute itself. */
export function describeOutline(outline: Uint8Array): ModelDescription {
  const checked = checkOutline(outline);
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
export function reportModel(file: Uint8Array): ModelReport {
  const described = describe(file);
  if (described.ok) {
    const { description } = described;
    return { ok: true, ...description, backends: listBackends({ ...description, files: [] }), problems: [] };
  }
  const nothing = { inputs: [], outputs: [], edgeParameters: null, summary: null, backends: [] };
  return { ok: false, ...nothing, problems: described.problems };
}

function describe(file: Uint8Array): Described {
  const checked = checkModel(file);
  if (!checked.ok) return checked;
  const { inputs, outputs, model } = checked;
  const dense = readDenseModel(model, checked);
  const edgeParameters = dense.ok ? dense.network.parameters : null;
  return { ok: true, description: { inputs, outputs, edgeParameters, summary: summariseModel(model) } };
}
