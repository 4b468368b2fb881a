import type { TrainingSpec } from "../../../protocol/jobs/training.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { GraphNetwork } from "../../../protocol/models/policy-network.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";
import { findArchive } from "../../store/models/archive-store.ts";
import type { ProjectDatabase } from "../../store/database.ts";
import { findModel } from "../../store/models/model-store.ts";
import { checkArchive, checkStart } from "./check-archive.ts";
import {
  checkRolloutPlace,
  checkSight,
  countLayerParameters,
  countRolloutOutputs,
  resolveEnvironment,
  takesEnvironment,
} from "../subjects/rollouts.ts";
import type { InputOf, JobSurroundings, Prepared } from "../kind.ts";

type Input = InputOf<TrainingSpec>;

/** Finds the environment of a training, and checks the fields that depend on it. */
export async function prepareTraining(
  input: Input,
  { db, candidates, announced }: JobSurroundings,
): Promise<Prepared<TrainingSpec>> {
  const errors = checkAlgorithm(input);
  const found = await resolveEnvironment(db, input.environment, announced);
  if (found === null) {
    errors.push({ pointer: "#/environment", message: "is not an environment that is announced or was submitted" });
    return { spec: input, errors };
  }
  const { key, environment } = found;
  const parameters = countParameters(input, environment);
  errors.push(
    ...checkNetwork(input, environment),
    ...checkParameters(parameters),
    ...checkArchive(input, environment, parameters),
  );
  const archive = input.archive === undefined ? null : await findArchive(db, input.archive);
  if (input.archive !== undefined) errors.push(...checkStart(input, environment, archive));
  const able = candidates.filter(({ capabilities }) => takesEnvironment(key, capabilities));
  errors.push(...checkRolloutPlace(input, key, able));
  if (input.publish !== undefined) errors.push(...(await checkPublishing(db, input, environment)));
  const { digest, sizeBytes } = archive ?? {};
  const file = digest === undefined || sizeBytes === undefined ? {} : { archiveFile: { digest, sizeBytes } };
  return { spec: { ...input, environment: key, ...file }, errors };
}

function checkAlgorithm({ algorithm, episodes, network }: Input): FieldError[] {
  const errors: FieldError[] = [];
  const isMirrored = algorithm.name === "openes" || algorithm.name === "pgpe";
  if (isMirrored && algorithm.population % 2 !== 0) {
    errors.push({ pointer: "#/algorithm/population", message: "must be even: members are mirrored pairs" });
  }
  const isGrowing = algorithm.name === "species";
  if (isGrowing !== (network.kind === "graph")) {
    const message = isGrowing
      ? "must be graph for species"
      : `must not be graph: ${algorithm.name} moves weights alone`;
    errors.push({ pointer: "#/network/kind", message });
  }
  if (algorithm.name === "genetic" && algorithm.elites >= algorithm.population) {
    errors.push({
      pointer: "#/algorithm/elites",
      message: "must be fewer than the population, or nothing ever changes",
    });
  }
  if (algorithm.population * episodes > LIMITS.evaluatedEpisodes) {
    const message = `must be at most ${LIMITS.evaluatedEpisodes} with all members of a generation together`;
    errors.push({ pointer: "#/episodes", message });
  }
  return errors;
}

/** A graph begins with every input and the bias connected to every output. */
function checkGraph({ connections }: GraphNetwork, inputs: number, outputs: number): FieldError[] {
  const first = (inputs + 1) * outputs;
  if (first <= connections) return [];
  return [{ pointer: "#/network/connections", message: `must be at least the ${first} that a graph begins with here` }];
}

function checkNetwork({ network }: Input, environment: RolloutEnvironment): FieldError[] {
  const blind = checkSight(network, environment);
  if (blind !== null) return [{ pointer: "#/network/kind", message: blind }];
  if (network.kind !== "graph") return [];
  return checkGraph(network, environment.observationSize, countRolloutOutputs(environment.action));
}

/** Parameters of a member; null for a network that only runners can size. */
function countParameters({ network }: Input, environment: RolloutEnvironment): number | null {
  if (network.kind === "direct") return countRolloutOutputs(environment.action);
  return network.kind === "graph" ? null : countLayerParameters(network, environment);
}

function checkParameters(parameters: number | null): FieldError[] {
  if (parameters === null || parameters <= LIMITS.policyParameters) return [];
  const message = `makes ${parameters} weights and biases in this environment, and may at most ${LIMITS.policyParameters}`;
  return [{ pointer: "#/network/hidden", message }];
}

/** A model whose versions have another signature belongs to another policy. */
async function checkPublishing(
  db: ProjectDatabase,
  { publish, network }: Input,
  { observationSize, action }: RolloutEnvironment,
): Promise<FieldError[]> {
  if (network.kind === "direct" || network.kind === "conv") {
    return [{ pointer: "#/publish", message: `is for dense networks: one of kind ${network.kind} has no ONNX file` }];
  }
  const model = await findModel(db, publish!.model);
  const latest = model?.versions.at(-1);
  if (latest === undefined) return [];
  const [takes, gives] = [latest.inputs, latest.outputs].map((tensors) => tensors.map(({ shape }) => shape.at(-1)));
  const isAlike =
    takes!.length === 1 &&
    takes![0] === observationSize &&
    gives!.length === 1 &&
    gives![0] === countRolloutOutputs(action);
  if (isAlike) return [];
  return [{ pointer: "#/publish/model", message: "is a model with other inputs and outputs" }];
}
