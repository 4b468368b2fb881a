import { formatDuration } from "../numbers.ts";
import { nameDevice } from "../runners.ts";
import { describePool } from "./evolution.ts";
import type { KindWords } from "./kind.ts";

/** More ballots are in the result itself. */
const BALLOTS_SHOWN = 20;

export const consensus: KindWords<"consensus"> = {
  kind: "consensus",
  name: ({ pool }) => pool?.name ?? "votes",
  parts: ({ options }) => [`${options} options`],
  result: ({ ballots, conflicts, place, computeMs, devices = [], faults = [] }, { number }) => ({
    table: {
      caption: "Ballots",
      columns: ["ballot", "quorum", "leader", "votes"],
      rows: ballots
        .slice(0, BALLOTS_SHOWN)
        .map(({ quorum, leader, tally }, index) => [
          `${index + 1} of ${ballots.length}`,
          quorum ? { tone: "good", word: "reached" } : { tone: "bad", word: "missed" },
          leader === null ? "nobody voted" : `option ${leader}`,
          leader === null ? "–" : number(tally[leader] ?? 0),
        ]),
    },
    facts: [
      ...(conflicts === null
        ? []
        : [["conflicts", `${conflicts.rounds.length} rounds, ${conflicts.proposers.length} proposers`] as const]),
      ...devices.map(({ deviceKey, deviceName, pciAddress, ballots: own, computeMs: ownMs }) => {
        const device = nameDevice({ key: deviceKey, name: deviceName, pciAddress });
        return ["shared by", `${device}: ${number(own)} ballots in ${formatDuration(ownMs)}`] as const;
      }),
      ...faults.map(({ detail }) => ["fault", detail] as const),
      ["counted", `in ${formatDuration(computeMs)}${place === null ? "" : `, ${describePool(place)}`}`],
    ],
  }),
  links: () => [],
  again: (spec) => ({ ...spec, pool: spec.pool?.name }),
};
