import type { Outcome } from "./play-attack.ts";
import type { Figures, VictimFigures } from "./victim/victim-figures.ts";

/** Share of the victim's requests that may fail beyond the share without the attack. */
export const ALLOWED_SHARE = 0.01;

export const JUDGEMENT =
  "An attack fails if the edge's process ended, if anyone was answered 500, or if more of the victim's inferences or " +
  `other requests failed than without it, by more than ${100 * ALLOWED_SHARE} % of them. Times are told and not judged.`;

/** What an attack must not do and did, as sentences; empty where it did nothing of that. */
export function judgeOutcome(outcome: Outcome): string[] {
  return [...judgeEdge(outcome), ...judgeVictim(outcome)];
}

/** What does not depend on the speed of a machine: that the edge lives and has no errors. */
export function judgeEdge({ during, answers, edge }: Pick<Outcome, "during" | "answers" | "edge">): string[] {
  const broken = count500(answers) + count500(during.inferences.byAnswer) + count500(during.others.byAnswer);
  return [
    ...(edge.deaths > 0 ? ["the edge's process ended"] : []),
    ...(broken > 0 ? [`${broken} requests were answered 500`] : []),
  ];
}

/** Whether so few of the victim's requests failed without an attack that the attack can be judged. */
export function isCalm({ inferences, others }: VictimFigures): boolean {
  return failedShare(inferences) <= ALLOWED_SHARE && failedShare(others) <= ALLOWED_SHARE;
}

function judgeVictim({ before, during }: Outcome): string[] {
  const found: string[] = [];
  for (const sort of ["inferences", "others"] as const) {
    const excess = failedShare(during[sort]) - failedShare(before[sort]);
    if (excess <= ALLOWED_SHARE) continue;
    const { failed, sent } = during[sort];
    found.push(
      `${failed} of ${sent} ${sort} of the victim failed, and ${before[sort].failed} of ${before[sort].sent} before`,
    );
  }
  return found;
}

function failedShare({ failed, sent }: Figures): number {
  return sent === 0 ? 0 : failed / sent;
}

/** An answer begins with its status, or with what was asked for and the status. */
function count500(answers: Readonly<Record<string, number>>): number {
  return Object.entries(answers).reduce(
    (sum, [answer, count]) => sum + (/(^| )500( [\w-]+)?$/.test(answer) ? count : 0),
    0,
  );
}
