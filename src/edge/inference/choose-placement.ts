import type { InferWishes } from "../../protocol/inference/inference.ts";
import type { LivePlacement } from "../store/fleet/live-placement-store.ts";
import type { Outlook } from "./predict/placement-watch.ts";
import { type Prediction, predictIdleMs, predictLatency } from "./predict/predict-latency.ts";

/** A placement with what a request is expected to take there. */
export interface Candidate {
  readonly placement: LivePlacement;
  readonly outlook: Outlook;
  readonly prediction: Prediction;
}

export type Choice =
  /** `fits`: whether it is predicted to be in time; else it is the best effort that was asked for. */
  | {
      readonly kind: "admitted";
      readonly candidate: Candidate;
      readonly fits: boolean;
      /** The fastest of those of a higher fidelity, which only the budget kept from being chosen. */
      readonly passedOver: Candidate | null;
    }
  /** No placement could even on an idle machine; the nearest needs `idleMs` as it was lately. */
  | { readonly kind: "unattainable"; readonly nearest: Candidate; readonly idleMs: number }
  /** Only what waits there, or a slow moment, is in the way; in `retryAfterMs` it is predicted to be gone. */
  | { readonly kind: "overloaded"; readonly nearest: Candidate; readonly retryAfterMs: number }
  /** What has passed since the arrival is in the way. */
  | { readonly kind: "late" }
  /** Whatever is online and could has stopped answering. */
  | { readonly kind: "silent" }
  | { readonly kind: "offline" }
  /** There are placements, and none is as was asked for. */
  | { readonly kind: "unmatched" }
  | { readonly kind: "none" };

export interface ChoiceRules {
  readonly wishes: Pick<
    InferWishes,
    "budgetMs" | "minFidelity" | "backend" | "profile" | "labels" | "runnerId" | "placementId" | "onMiss"
  >;
  /** What has passed of the budget. */
  readonly spentMs: number;
  readonly outlook: (placement: LivePlacement) => Outlook;
  /** What the request would take on an idle machine, as it was calibrated. */
  readonly calibratedMs: (placement: LivePlacement) => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Costs within this factor of the lowest are the same: measurements differ by as much from day to day. */
const SAME_COST = 1.25;
/** So many placements are all looked at. */
const FEW = 64;
/** Of more so many are looked at; where those do not decide, so many; then all. */
const LOOKS = [16, 512];

/**
 * Picks where a request runs: of the placements that are as was asked for, online, not silent and
 * predicted to fit the budget, those of the highest fidelity, of these the cheapest by their median
 * service, and of two of these at random the one with less to do (Mitzenmacher, "The power of two
 * choices in randomized load balancing", 2001). Where none fits, the outcome says what is in the way.
 *
 * Each look at a placement costs some microseconds. Of more than 64 that are online, 16 at random stand for all if one of
 * them fits that is as faithful as any; else 512 do, if one fits at all or could but for its queue. That nothing could
 * ever fit is only said of all.
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
    const isBest = choice.kind === "admitted" && choice.fits && fidelityOf(choice.candidate) === fidelity;
    const isDecided = choice.kind === "admitted" || choice.kind === "overloaded";
    if (isBest || (index > 0 && isDecided)) return choice;
  }
  return chooseAmong(online, rules);
}

/** Moves placements that are drawn at random to the front, up to `count`; those before `from` are there already. */
function drawToFront(placements: LivePlacement[], from: number, count: number, random: () => number): void {
  for (let index = from; index < count; index++) {
    const drawn = index + Math.floor(random() * (placements.length - index));
    [placements[index], placements[drawn]] = [placements[drawn]!, placements[index]!];
  }
}

/** The choice among placements that are online; there is at least one. */
function chooseAmong(placements: readonly LivePlacement[], rules: ChoiceRules): Choice {
  const { wishes, spentMs, outlook, random } = rules;
  const online = placements.map((placement): Candidate => {
    const seen = outlook(placement);
    return { placement, outlook: seen, prediction: predictLatency(seen, spentMs) };
  });
  const answering = online.filter((candidate) => !candidate.outlook.isSilent);
  if (answering.length === 0) return { kind: "silent" };
  const fitting = answering.filter((candidate) => latencyOf(candidate) <= wishes.budgetMs);
  const admit = (candidate: Candidate, fits: boolean): Choice => {
    const better = answering.filter((other) => fidelityOf(other) > fidelityOf(candidate));
    const passedOver = better.length === 0 ? null : leastOf(better, latencyOf);
    return { kind: "admitted", candidate, fits, passedOver };
  };
  if (fitting.length > 0) return admit(pickBest(fitting, random), true);
  const fastest = leastOf(answering, latencyOf);
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
  const limitMs = SAME_COST * Math.min(...faithful.map(costOf));
  const cheap = faithful.filter((candidate) => costOf(candidate) <= limitMs);
  const first = Math.floor(random() * cheap.length);
  // Another one than the first: all but that are as likely.
  const second = (first + 1 + Math.floor(random() * (cheap.length - 1))) % cheap.length;
  return leastOf([cheap[first]!, cheap[second]!], (candidate) => candidate.outlook.queueMs);
}

function sayWhatIsInTheWay(online: readonly Candidate[], rules: ChoiceRules): Choice {
  const { budgetMs } = rules.wishes;
  const bestMs = (candidate: Candidate) => Math.min(idleOf(candidate), rules.calibratedMs(candidate.placement));
  const nearest = leastOf(online, idleOf);
  const able = online.filter((candidate) => bestMs(candidate) <= budgetMs);
  if (able.length === 0) return { kind: "unattainable", nearest, idleMs: idleOf(nearest) };
  const answering = able.filter((candidate) => !candidate.outlook.isSilent);
  if (answering.length === 0) return { kind: "silent" };
  const waiting = answering.filter((candidate) => bestMs(candidate) + rules.spentMs <= budgetMs);
  if (waiting.length === 0) return { kind: "late" };
  const soonest = leastOf(waiting, latencyOf);
  return { kind: "overloaded", nearest: soonest, retryAfterMs: Math.ceil(latencyOf(soonest) - budgetMs) };
}

const latencyOf = ({ prediction }: Candidate) => prediction.latencyMs;
const idleOf = ({ outlook }: Candidate) => predictIdleMs(outlook);
const costOf = ({ outlook }: Candidate) => outlook.medianServiceMs;
const fidelityOf = ({ placement }: Pick<Candidate, "placement">) => placement.fidelity ?? 0;

/** The first of those with the least measure; the list is not empty. */
function leastOf(candidates: readonly Candidate[], measure: (candidate: Candidate) => number): Candidate {
  return candidates.reduce((least, each) => (measure(each) < measure(least) ? each : least));
}
