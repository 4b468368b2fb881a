import type { Backend } from "../../protocol/fleet/hardware.ts";
import type { InferWishes } from "../../protocol/inference/inference.ts";
import type { LivePlacement } from "../store/fleet/live-placement-store.ts";
import type { Outlook } from "./predict/placement-watch.ts";
import { type Prediction, predictLatency } from "./predict/predict-latency.ts";

/** A placement with the expected times of a request there. */
export interface Candidate {
  readonly placement: LivePlacement;
  readonly outlook: Outlook;
  readonly prediction: Prediction;
}

export type Choice =
  /** `fits`: the prediction is within the budget; else it is the requested best effort, or may wait for a refusal. */
  | {
      readonly kind: "admitted";
      readonly candidate: Candidate;
      readonly fits: boolean;
      /** The fastest placement of a higher fidelity that only the budget ruled out. */
      readonly passedOver: Candidate | null;
    }
  /** No placement could even on an idle machine; the nearest needs the least by recent measurements. */
  | { readonly kind: "unattainable"; readonly nearest: Candidate }
  /** Only a queue or a slow moment prevents it; in `retryAfterMs` it is predicted to be gone. */
  | { readonly kind: "overloaded"; readonly nearest: Candidate; readonly retryAfterMs: number }
  /** Only the time since the arrival prevents it, which is longer than usual by `retryAfterMs`. */
  | { readonly kind: "late"; readonly retryAfterMs: number }
  /** Every online placement that could is silent, and is not expected to answer in time. */
  | { readonly kind: "silent" }
  | { readonly kind: "offline" }
  /** No placement matches the request's wishes. */
  | { readonly kind: "unmatched" }
  | { readonly kind: "none" };

export interface ChoiceRules {
  readonly wishes: Pick<
    InferWishes,
    | "budgetMs"
    | "refuseWithinMs"
    | "minFidelity"
    | "backend"
    | "profile"
    | "labels"
    | "runnerId"
    | "placementId"
    | "onMiss"
  >;
  /** Used part of the budget, and the part that requests use before their choice at the confidence. */
  readonly spentMs: number;
  readonly usualSpentMs: number;
  readonly outlook: (placement: LivePlacement) => Outlook;
  /** Time of the request on an idle machine, by the calibration. */
  readonly calibratedMs: (placement: LivePlacement) => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Times within this factor of the shortest count as equal: measurements differ by as much from day to day. */
const SAME_TIME = 1.25;
/** The same between backends of one runner, which one calibration measured side by side. */
const SAME_TIME_HERE = 1.05;
/** Up to so many placements are all examined. */
const FEW = 64;
/** Sample sizes among more placements: the next size where the one before does not decide, and then all. */
const LOOKS = [16, 512];

/**
 * Picks the place of a request among the placements that match it, are online, have not stopped answering and are
 * predicted to fit the budget. It prefers those that are not silent, then the highest fidelity. Of those that could
 * answer as soon as any if they were idle, and of a runner's backends those that answer about as soon as its best one,
 * it looks at two at random and takes the one that is done first. Without a fit, the outcome gives the reason.
 * To examine a placement costs some microseconds. Of more than 64 online ones, a random sample of 16 decides if one of
 * them fits with the highest fidelity of all. Else 512 decide, if one fits or only its queue prevents it. Only all of
 * them show that nothing could ever fit.
 * Source: Mitzenmacher, "The power of two choices in randomized load balancing", 2001.
 */
export function choosePlacement(placements: readonly LivePlacement[], rules: ChoiceRules): Choice {
  if (placements.length === 0) return { kind: "none" };
  const labels = Object.entries(rules.wishes.labels ?? {});
  const matching = placements.filter((placement) => matches(placement, rules.wishes, labels));
  if (matching.length === 0) return { kind: "unmatched" };
  const online = matching.filter((placement) => placement.online && !placement.draining);
  if (online.length === 0) return { kind: "offline" };
  if (online.length <= FEW) return chooseAmong(online, rules);
  const fidelity = online.reduce((most, placement) => Math.max(most, fidelityOf({ placement })), 0);
  for (const [index, most] of LOOKS.entries()) {
    if (online.length <= most) break;
    drawToFront(online, LOOKS[index - 1] ?? 0, most, rules.random);
    const choice = chooseAmong(online.slice(0, most), rules);
    const isHeard = choice.kind === "admitted" && answers(choice.candidate);
    const isBest = isHeard && choice.fits && fidelityOf(choice.candidate) === fidelity;
    const isDecided = isHeard || choice.kind === "overloaded";
    if (isBest || (index > 0 && isDecided)) return choice;
  }
  return chooseAmong(online, rules);
}

/** Moves randomly drawn placements to the front, up to `count`; those before `from` are there already. */
function drawToFront(placements: LivePlacement[], from: number, count: number, random: () => number): void {
  for (let index = from; index < count; index++) {
    const drawn = index + Math.floor(random() * (placements.length - index));
    [placements[index], placements[drawn]] = [placements[drawn]!, placements[index]!];
  }
}

/** The choice among online placements; there is at least one. */
function chooseAmong(placements: readonly LivePlacement[], rules: ChoiceRules): Choice {
  const { wishes, spentMs, outlook, random } = rules;
  const online = placements.map((placement): Candidate => {
    const seen = outlook(placement);
    return { placement, outlook: seen, prediction: predictLatency(seen, spentMs) };
  });
  const answering = online.filter(answers);
  // A silence may end in time. Its prediction is infinite where the device has stopped answering.
  const hopeful = answering.length > 0 ? answering : online.filter((candidate) => latencyOf(candidate) < Infinity);
  if (hopeful.length === 0) return { kind: "silent" };
  const isInTime = (candidate: Candidate) => latencyOf(candidate) <= wishes.budgetMs;
  const heard = answering.filter(isInTime);
  const fitting = heard.length > 0 ? heard : online.filter(isInTime);
  const admit = (candidate: Candidate, fits: boolean): Choice => {
    const better = answering.filter((other) => fidelityOf(other) > fidelityOf(candidate));
    const passedOver = better.length === 0 ? null : leastOf(better, latencyOf);
    return { kind: "admitted", candidate, fits, passedOver };
  };
  if (fitting.length > 0) return admit(pickBest(fitting, random), true);
  // A request that can wait for a refusal may find room in a queue that is predicted to be too long.
  const patienceMs = Math.max(0, wishes.refuseWithinMs - spentMs);
  const isWorthWaiting = (candidate: Candidate) =>
    latencyOf(candidate) - Math.min(patienceMs, candidate.outlook.queueMs) <= wishes.budgetMs;
  const patient = patienceMs > 0 ? answering.filter(isWorthWaiting) : [];
  if (patient.length > 0) return admit(leastOf(patient, latencyOf), false);
  const fastest = leastOf(hopeful, latencyOf);
  if (wishes.onMiss === "best-effort") return admit(fastest, false);
  return sayWhatIsInTheWay(online, rules);
}

function matches(
  placement: LivePlacement,
  { runnerId, placementId, backend, profile, minFidelity }: ChoiceRules["wishes"],
  labels: readonly (readonly [name: string, value: string])[],
): boolean {
  return (
    (placementId === undefined || placement.id === placementId) &&
    (runnerId === undefined || placement.runnerId === runnerId) &&
    (backend === undefined || placement.backend === backend) &&
    (profile === undefined || placement.profiles.includes(profile)) &&
    labels.every(([name, value]) => placement.labels[name] === value) &&
    (placement.fidelity ?? 0) >= minFidelity
  );
}

function pickBest(fitting: readonly Candidate[], random: () => number): Candidate {
  const fidelity = Math.max(...fitting.map(fidelityOf));
  const faithful = fitting.filter((candidate) => fidelityOf(candidate) === fidelity);
  // The median service of a placement counts, and not its queue: isolates that all fled a queue would meet in the next.
  const limitMs = SAME_TIME * Math.min(...faithful.map(endOf));
  const similar = faithful.filter(({ outlook }) => outlook.medianServiceMs <= limitMs);
  const best = bestOfRunners(similar);
  const soon = similar.filter((candidate) => !isBeaten(candidate, best.get(candidate.placement.runnerId)!));
  const first = Math.floor(random() * soon.length);
  // Any but the first, with equal probability.
  const second = (first + 1 + Math.floor(random() * (soon.length - 1))) % soon.length;
  return leastOf([soon[first]!, soon[second]!], endOf);
}

/** Least time until an answer of each backend, by runner. */
type BestTimes = ReadonlyMap<Backend, number>;

function bestOfRunners(candidates: readonly Candidate[]): ReadonlyMap<string | null, BestTimes> {
  const best = new Map<string | null, Map<Backend, number>>();
  for (const candidate of candidates) {
    const { runnerId, backend } = candidate.placement;
    const ofRunner = best.get(runnerId) ?? new Map<Backend, number>();
    ofRunner.set(backend, Math.min(endOf(candidate), ofRunner.get(backend) ?? Infinity));
    best.set(runnerId, ofRunner);
  }
  return best;
}

/** Whether another backend of the same runner would answer sooner. Equal devices by one backend share the work. */
function isBeaten(candidate: Candidate, best: BestTimes): boolean {
  const { backend } = candidate.placement;
  return best.entries().some(([other, ms]) => other !== backend && SAME_TIME_HERE * ms < endOf(candidate));
}

function sayWhatIsInTheWay(online: readonly Candidate[], rules: ChoiceRules): Choice {
  const { spentMs, usualSpentMs } = rules;
  const { budgetMs } = rules.wishes;
  const bestMs = (candidate: Candidate) => Math.min(idleOf(candidate), rules.calibratedMs(candidate.placement));
  const nearest = leastOf(online, idleOf);
  // What is usual may be that of an overload that is over; the time that this request took shows better.
  const able = online.filter((candidate) => bestMs(candidate) + Math.min(spentMs, usualSpentMs) <= budgetMs);
  if (able.length === 0) return { kind: "unattainable", nearest };
  const answering = able.filter(answers);
  if (answering.length === 0) return { kind: "silent" };
  const waiting = answering.filter((candidate) => bestMs(candidate) + spentMs <= budgetMs);
  if (waiting.length === 0) return { kind: "late", retryAfterMs: Math.max(1, Math.ceil(spentMs - usualSpentMs)) };
  const soonest = leastOf(waiting, latencyOf);
  return { kind: "overloaded", nearest: soonest, retryAfterMs: Math.ceil(latencyOf(soonest) - budgetMs) };
}

const answers = ({ outlook }: Candidate) => outlook.silentMs === 0;
const latencyOf = ({ prediction }: Candidate) => prediction.latencyMs;
const idleOf = ({ outlook }: Candidate) => outlook.aloneMs;
const endOf = ({ outlook }: Candidate) => outlook.queueMs + outlook.medianServiceMs;
const fidelityOf = ({ placement }: Pick<Candidate, "placement">) => placement.fidelity ?? 0;

/** The first of those with the least measure; the list is not empty. */
function leastOf(candidates: readonly Candidate[], measure: (candidate: Candidate) => number): Candidate {
  return candidates.reduce((least, each) => (measure(each) < measure(least) ? each : least));
}
