import { poissonArrivals } from "../load/arrivals.ts";
import { findBroken, FRESH, judgeExpiry, judgeRecovery, judgeRefusal } from "./judge-overload.ts";
import { findLag, inMs, isAnswer, judgeEnd, type Judgement, type Seen, untold } from "./judgement.ts";
import { evenArrivals, putRequests } from "./put-requests.ts";
import { calm, CUT, hurry, NO_CARRIER, NOT_CALM, type Overload, type Suite } from "./suite.ts";

const OVERLOAD = 2;
/**
 * Admitted requests, as a multiple of the reciprocal of their largest late share, beyond which an overload is repeated
 * no more. Wilson's interval needs 3.85 of them where none is late, and 6 where a few are.
 */
const ENOUGH = 8;
const MOST_EPISODES = 30;
/** Episodes after which a lagging generator gives up, or one whose connections break. */
const VAIN_EPISODES = 3;

/** Twice the capacity, for some seconds each time, until the evidence is enough; text: why it tells nothing. */
function putOverload(suite: Suite): Promise<Overload | string> {
  return (suite.overload ??= putEpisodes(suite));
}

async function putEpisodes(suite: Suite): Promise<Overload | string> {
  const { sender, baseline, overloadMs, seed, say } = suite;
  const seen: Seen[] = [];
  for (let episode = 0; episode < MOST_EPISODES; episode++) {
    if (!(await calm(suite))) return episode === 0 ? NOT_CALM : { seen, durationMs: episode * overloadMs };
    say(`twice the capacity (${episode + 1}, ${seen.length} requests so far)`);
    const plan = { ratePerSecond: OVERLOAD * baseline.capacityPerSecond, durationMs: overloadMs, seed: seed + episode };
    const episodeLoad = await putRequests(sender, poissonArrivals(plan), hurry(suite));
    if (episodeLoad.isCut) return CUT;
    seen.push(...episodeLoad.seen);
    const load = { seen, durationMs: (episode + 1) * overloadMs };
    const refusal = judgeLoad(suite, load);
    const isRefusalTold =
      refusal.verdict !== "untold" || (refusal.figures["admitted"] ?? 0) >= ENOUGH / suite.lateShare;
    const isTold = isRefusalTold && judgeExpiry(seen, suite).verdict !== "untold";
    const isVain = episode + 1 >= VAIN_EPISODES && (findLag(seen, suite) ?? findBroken(seen)) !== null;
    if (isTold || isVain || sender.stopped.aborted) return load;
  }
  return { seen, durationMs: MOST_EPISODES * overloadMs };
}

export async function measureExpiry(suite: Suite): Promise<Judgement> {
  if (!suite.target.hasDeadline) return untold(NO_CARRIER);
  const load = await putOverload(suite);
  return typeof load === "string" ? untold(load) : judgeExpiry(load.seen, suite);
}

export async function measureRefusal(suite: Suite): Promise<Judgement> {
  const load = await putOverload(suite);
  return typeof load === "string" ? untold(load) : judgeLoad(suite, load);
}

function judgeLoad(suite: Suite, { seen, durationMs }: Overload): Judgement {
  return judgeRefusal(seen, { ...suite, durationMs, capacityPerSecond: suite.baseline.capacityPerSecond });
}

const STRESS = 3;
const STRESSES = 3;
const FRESH_LOAD = 0.5;
/** Minimum number of fresh requests; `FRESH` consecutive ones of them are judged. */
const LEAST_FRESH = 40;
/** Longest recovery, where twice the deadline is not longer. */
const RECOVERY_MS = 1_000;

/** Number of fresh requests after an overload, enough to see a recovery at the last permitted moment. */
export function countFresh(freshRate: number, overloadMs: number, mostMs: number): number {
  return Math.max(LEAST_FRESH, Math.ceil((freshRate * Math.max(overloadMs, mostMs)) / 1e3) + FRESH);
}

export async function measureRecovery(suite: Suite): Promise<Judgement> {
  const { sender, baseline, overloadMs, deadlineMs, seed, say } = suite;
  const rate = baseline.capacityPerSecond;
  const freshRate = FRESH_LOAD * rate;
  const mostMs = Math.max(RECOVERY_MS, 2 * deadlineMs);
  const freshCount = countFresh(freshRate, overloadMs, mostMs);
  if (!(await calm(suite))) return untold(NOT_CALM);
  say("half the capacity, before an overload");
  const before = await putRequests(sender, evenArrivals(LEAST_FRESH, freshRate), hurry(suite));
  if (before.isCut) return untold(CUT);
  const good = before.seen.filter((each) => isAnswer(each) && judgeEnd(each, suite) !== "late").length;
  if (good < 0.95 * LEAST_FRESH) {
    return untold(
      `Even before an overload, only ${good} of ${LEAST_FRESH} requests at half the capacity met ${inMs(deadlineMs)}.`,
    );
  }
  const rounds: Seen[][] = [];
  for (let round = 0; round < STRESSES; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    say(`three times the capacity, then half of it (${round + 1} of ${STRESSES})`);
    const stress = poissonArrivals({
      ratePerSecond: STRESS * rate,
      durationMs: overloadMs,
      seed: seed + 1_000 + round,
    });
    const arrivals = Float64Array.from([...stress, ...evenArrivals(freshCount, freshRate, overloadMs)]);
    const { seen, isCut } = await putRequests(sender, arrivals, hurry(suite));
    if (isCut) return untold(CUT);
    rounds.push(seen.filter(({ atMs }) => atMs >= overloadMs));
  }
  return judgeRecovery(rounds, { ...suite, mostMs, watchedMs: (1e3 * freshCount) / freshRate });
}
