import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { environmentNamed } from "../../../../kernels/environments/registry.ts";
import { countOutputs } from "../../../../kernels/rollout/policy-layout.ts";
import { type EpisodeKey, type EpisodeMoment, walkEpisode } from "../../../../kernels/rollout/roll-out.reference.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import {
  countRecordBytes,
  REPLAY_FIELDS,
  type ReplayField,
  writeReplay,
} from "../../../protocol/jobs/evaluation/replay-file.ts";

/** A member whose episodes are recorded. Plain data. */
export interface RecordedMember {
  /** Index among the evaluation's entrants. */
  readonly entrant: number;
  /** Index among the members of the entrant. */
  readonly member: number;
  /** Index among all members rolled out together, which keys the random draws. */
  readonly drawnAs: number;
  readonly network: PolicyNetwork;
  readonly parameters: Float32Array<ArrayBuffer>;
}

/** Request for a recording, with the name of an environment that has a reference. Plain data. */
export interface RecordRequest extends Pick<EpisodeKey, "seed" | "commonRandom"> {
  readonly environment: string;
  readonly members: readonly RecordedMember[];
  /** Number of episodes of each member, from the first on. */
  readonly episodes: number;
}

/** Cells of a MinAtar game, whose observation packs them as bits. */
const GAME_CELLS = 100;
const TYPES = { f32: "<f4", i32: "<i4", u32: "<u4" } as const;

/**
 * Replays episodes with the environment's f64 reference and returns their states as a file; see replay-file.ts.
 * Episodes beyond their share of the remaining states, or of the time, are cut off: their last record has cause 0.
 */
export function recordEpisodes(request: RecordRequest, nowMs: () => number): Uint8Array<ArrayBuffer> {
  const { members, episodes, seed, commonRandom } = request;
  const environment = environmentNamed(request.environment);
  const fields = fieldsOf(environment);
  const most = Math.min(LIMITS.recordedStates, Math.floor(LIMITS.replayBytes / countRecordBytes(fields)));
  const endMs = nowMs() + LIMITS.recordingMs;
  const records: number[][] = [];
  let missing = members.length * episodes;
  for (const { entrant, member, drawnAs, network, parameters } of members) {
    for (let episode = 0; episode < episodes; episode++) {
      const share = Math.floor((most - records.length) / missing--);
      const walk = walkEpisode(environment, network, parameters, { seed, member: drawnAs, episode, commonRandom });
      for (let step = 0; nowMs() < endMs; step++) {
        const { done, value } = walk.next();
        // A member with an invalid weight has no state at all.
        if (done === true && step > 0) records.at(-1)!.splice(CAUSE_AT, 1, value.cause);
        if (done === true || step === share) break;
        records.push([entrant, member, episode, step, value.reward, 0, ...numbersOf(environment, value)]);
      }
    }
  }
  return writeReplay(fields, records);
}

const CAUSE_AT = REPLAY_FIELDS.findIndex(({ name }) => name === "cause");

function fieldsOf({ state, action, observationForm }: EnvironmentSpec): ReplayField[] {
  return [
    ...REPLAY_FIELDS,
    { name: "action", type: "<f4", count: action.kind === "discrete" ? 1 : countOutputs(action) },
    ...state.map(({ name, type, count }) => ({ name: `state.${name}`, type: TYPES[type], count })),
    ...(observationForm === "bits" ? [{ name: "cells", type: "<u2", count: GAME_CELLS } as const] : []),
  ];
}

/** Action, state and, for a game, the bits of each cell. */
function numbersOf(
  { action, observationForm, observationSize }: EnvironmentSpec,
  moment: Pick<EpisodeMoment, "state" | "observation" | "action">,
): number[] {
  const outputs = action.kind === "discrete" ? 1 : countOutputs(action);
  const taken = moment.action ?? Array.from({ length: outputs }, () => Number.NaN);
  if (observationForm !== "bits") return [...taken, ...moment.state];
  const channels = observationSize / GAME_CELLS;
  const cells = Array.from({ length: GAME_CELLS }, (_, cell) =>
    moment.observation
      .subarray(cell * channels, (cell + 1) * channels)
      .reduce((bits, value, channel) => bits | (value === 1 ? 1 << channel : 0), 0),
  );
  return [...taken, ...moment.state, ...cells];
}
