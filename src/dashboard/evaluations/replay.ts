import { readReplay, REPLAY_FIELDS, type ReplayField } from "../../protocol/jobs/evaluation/replay-file.ts";

/** The state of an episode at one step, with what led there and what was done there. */
export type ReplayRecord = Float64Array;

/** One episode of a replay; its records are its states in order. */
export interface ReplayedEpisode {
  readonly entrant: number;
  readonly member: number;
  readonly episode: number;
  /** Bits, as in the file of episodes; 0: it was cut off. */
  readonly cause: number;
  readonly total: number;
  readonly records: readonly ReplayRecord[];
}

export interface Replay {
  readonly fields: readonly ReplayField[];
  readonly episodes: readonly ReplayedEpisode[];
}

const [ENTRANT, MEMBER, EPISODE, , REWARD, CAUSE] = REPLAY_FIELDS.map((_, index) => index) as [
  number,
  number,
  number,
  number,
  number,
  number,
];
const STATE = "state.";

/** The episodes of a file. Throws where it is no replay. */
export function openReplay(file: Uint8Array): Replay {
  const { fields, records } = readReplay(file);
  const keyed = Map.groupBy(records, (record) => record.slice(ENTRANT, EPISODE + 1).join());
  const episodes = [...keyed.values()].map((own) => {
    const [first, last] = [own[0]!, own.at(-1)!];
    return {
      entrant: first[ENTRANT]!,
      member: first[MEMBER]!,
      episode: first[EPISODE]!,
      cause: last[CAUSE]!,
      total: own.reduce((sum, record) => sum + record[REWARD]!, 0),
      records: own,
    };
  });
  return { fields, episodes };
}

/** One number of each record, by a name for it. */
export interface ReplayTrack {
  readonly name: string;
  readonly place: number;
}

/** Tracks of a replay over time: the reward, the action, and every number of the state. */
export function tracksOf(fields: readonly ReplayField[]): ReplayTrack[] {
  let place = 0;
  return fields.flatMap(({ name, count }) => {
    const first = place;
    place += count;
    if (name !== "reward" && name !== "action" && !name.startsWith(STATE)) return [];
    const told = name.replace(STATE, "");
    return Array.from({ length: count }, (_, index) => ({
      name: count === 1 ? told : `${told} ${index + 1}`,
      place: first + index,
    }));
  });
}

/** The numbers of a field in a record; null where the file has no such field. */
export function numbersOf(
  fields: readonly ReplayField[],
  record: ReplayRecord,
  name: string,
): readonly number[] | null {
  let place = 0;
  for (const field of fields) {
    if (field.name === name) return [...record.subarray(place, place + field.count)];
    place += field.count;
  }
  return null;
}

/** Why an episode ended, in words. */
export function describeEnd({ cause }: Pick<ReplayedEpisode, "cause">): string {
  if ((cause & 4) !== 0) return "the policy failed";
  if (cause === 0) return "the recording was cut off there";
  return (cause & 1) === 0 ? "the limit of steps ended it" : "the environment ended it";
}
