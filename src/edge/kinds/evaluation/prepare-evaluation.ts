import type { Entrant, EvaluationSpec } from "../../../protocol/jobs/evaluation/evaluation.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";
import { chooseVersion } from "../../models/choose-version.ts";
import type { ProjectDatabase } from "../../store/database.ts";
import { isEnvironmentId } from "../../store/models/environment-store.ts";
import { type NamedVersion, readVersionsOf } from "../../store/models/model-store.ts";
import { findPopulation } from "../../store/models/population-store.ts";
import {
  checkNetworkSize,
  checkRolloutPlace,
  countRolloutOutputs,
  resolveEnvironment,
  takesEnvironment,
} from "../subjects/rollouts.ts";
import { layOutModel } from "./lay-out-model.ts";
import type { InputOf, JobSurroundings, Prepared } from "../kind.ts";

type Input = InputOf<EvaluationSpec>;

/**
 * Finds the subjects of an evaluation, lays out the weights of models as rows, and checks that everything fits
 * together.
 */
export async function prepareEvaluation(
  input: Input,
  surroundings: JobSurroundings,
): Promise<Prepared<EvaluationSpec>> {
  const { db, candidates, announced } = surroundings;
  const { policies, population, ...shared } = input;
  const found = await resolveEnvironment(db, input.environment, announced);
  if (found === null) {
    const message = "is not an environment that is announced or was submitted";
    return { spec: { ...shared, entrants: [] }, errors: [{ pointer: "#/environment", message }] };
  }
  const { key, environment } = found;
  const able = candidates.filter(({ capabilities }) => takesEnvironment(key, capabilities));
  const errors = checkRolloutPlace(input, key, able);
  const chosen =
    policies === undefined
      ? [await choosePopulation(db, population!, environment)]
      : await choosePolicies(surroundings, policies, environment);
  errors.push(...chosen.flatMap((each) => each.errors));
  const entrants = chosen.flatMap(({ entrant }) => (entrant === null ? [] : [entrant]));
  const episodes = input.episodes * entrants.reduce((sum, { members }) => sum + members, 0);
  if (episodes > LIMITS.evaluatedEpisodes) {
    const message = `must be at most ${LIMITS.evaluatedEpisodes} with all members together, and is ${episodes}`;
    errors.push({ pointer: "#/episodes", message });
  }
  const unrecordable = explainUnrecordable(input, key, entrants.length);
  if (unrecordable !== null) errors.push({ pointer: "#/record", message: unrecordable });
  return { spec: { ...shared, environment: key, entrants }, errors };
}

/** Reason why the states of so many episodes cannot be recorded; null if they can. */
function explainUnrecordable({ record, episodes }: Input, key: string, entrants: number): string | null {
  if (record > 0 && isEnvironmentId(key)) return "needs a reference, which an environment that was submitted has not";
  if (record > episodes) return `must be at most episodes, ${episodes}`;
  if (record * entrants <= LIMITS.recordedEpisodes) return null;
  return `must be at most ${LIMITS.recordedEpisodes} with all policies together, and is ${record * entrants}`;
}

interface Chosen {
  readonly entrant: Entrant | null;
  readonly errors: readonly FieldError[];
}

const refuse = (pointer: string, message: string): Chosen => ({ entrant: null, errors: [{ pointer, message }] });

async function choosePopulation(
  db: ProjectDatabase,
  nameOrId: string,
  environment: RolloutEnvironment,
): Promise<Chosen> {
  const pointer = "#/population";
  const population = await findPopulation(db, nameOrId);
  if (population === null) return refuse(pointer, "is not a population that was uploaded");
  const { id, name, digest, offsetBytes, members, parameters, network } = population;
  const misfit = checkNetworkSize(network, parameters, environment);
  if (misfit !== null) return refuse(pointer, misfit);
  const entrant = { name: name ?? id, populationId: id, digest, offsetBytes, members, parameters, network };
  return { entrant, errors: [] };
}

async function choosePolicies(
  { db, bucket }: JobSurroundings,
  policies: readonly string[],
  environment: RolloutEnvironment,
): Promise<Chosen[]> {
  const versions = await readVersionsOf(db);
  const chosen: Chosen[] = [];
  for (const [index, reference] of policies.entries()) {
    const pointer = `#/policies/${index}`;
    const version = findVersion(versions, reference);
    if (version === null) chosen.push(refuse(pointer, "is not a model that was uploaded"));
    else chosen.push(await choosePolicy(bucket, version, environment, pointer));
  }
  return chosen;
}

/** A model by name or id, in the version after `@`, else in the latest. */
function findVersion(versions: readonly NamedVersion[], reference: string): NamedVersion | null {
  const [name, number] = reference.split("@", 2);
  const own = versions.filter(({ model, modelId }) => model === name || modelId === name);
  return chooseVersion(own, number, () => false);
}

async function choosePolicy(
  bucket: R2Bucket,
  version: NamedVersion,
  environment: RolloutEnvironment,
  pointer: string,
): Promise<Chosen> {
  const laidOut = await layOutModel(bucket, version);
  if (!laidOut.ok) return refuse(pointer, `cannot be evaluated: ${laidOut.message}`);
  const { inputs, outputs, ...row } = laidOut.row;
  const errors: FieldError[] = [];
  if (inputs !== environment.observationSize) {
    const message = `takes ${inputs} numbers, and the environment shows ${environment.observationSize}`;
    errors.push({ pointer, message });
  }
  const wanted = countRolloutOutputs(environment.action);
  if (outputs !== wanted)
    errors.push({ pointer, message: `gives ${outputs} numbers, and the environment takes ${wanted}` });
  const name = `${version.model}@${version.version}`;
  return { entrant: { name, modelVersionId: version.id, offsetBytes: 0, members: 1, ...row }, errors };
}
