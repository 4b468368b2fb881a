import { poissonArrivals } from "../load/arrivals.ts";
import { judgeExpiry, judgeRecovery, judgeRefusal } from "./judge-overload.ts";
import { findLag, inMs, isAnswer, judgeEnd, type Judgement, type Seen, untold } from "./judgement.ts";
import { evenArrivals, putRequests } from "./put-requests.ts";
import { calm, hurry, NO_CARRIER, NOT_CALM, type Overload, type Suite } from "./suite.ts";

const OVERLOAD = 2;
/**
 * Admitted requests, as a multiple of the reciprocal of their largest late share, beyond which an overload is repeated
 * no more. Wilson's interval needs 3.85 of them where none is late, and 6 where a few are.
 */
const ENOUGH = 8;
const MOST_EPISODES = 30;
/** Episodes after which a lagging generator gives up. */
const VAIN_EPISODES = 3;

/** Twice the capacity, for some seconds each time, until the evidence is enough; null where the server was not calm. */
function putOverload(suite: Suite): Promise<Overload | null> {
  return (suite.overload ??= putEpisodes(suite));
}

async function putEpisodes(suite: Suite): Promise<Overload | null> {
  const { sender, baseline, overloadMs, seed, say } = suite;
  const seen: Seen[] = [];
  for (let episode = 0; episode < MOST_EPISODES; episode++) {
    if (!(await calm(suite))) return episode === 0 ? null : { seen, durationMs: episode * overloadMs };
    say(`twice the capacity (${episode + 1}, ${seen.length} requests so far)`);
    const plan = { ratePerSecond: OVERLOAD * baseline.capacityPerSecond, durationMs: overloadMs, seed: seed + episode };
    seen.push(...(await putRequests(sender, poissonArrivals(plan), hurry(suite))));
    const load = { seen, durationMs: (episode + 1) * overloadMs };
    const refusal = judgeLoad(suite, load);
    const isRefusalTold =
      refusal.verdict !== "untold" || (refusal.figures["admitted"] ?? 0) >= ENOUGH / suite.lateShare;
    const isTold = isRefusalTold && judgeExpiry(seen, suite).verdict !== "untold";
    const isVain = episode + 1 >= VAIN_EPISODES && findLag(seen, suite) !== null;
    if (isTold || isVain || sender.stopped.aborted) return load;
  }
  return { seen, durationMs: MOST_EPISODES * overloadMs };
}

export async function measureExpiry(suite: Suite): Promise<Judgement> {
  if (!suite.target.hasDeadline) return untold(NO_CARRIER);
  const load = await putOverload(suite);
  return load === null ? untold(NOT_CALM) : judgeExpiry(load.seen, suite);
}

export async function measureRefusal(suite: Suite): Promise<Judgement> {
  const load = await putOverload(suite);
  return load === null ? untold(NOT_CALM) : judgeLoad(suite, load);
}

function judgeLoad(suite: Suite, { seen, durationMs }: Overload): Judgement {
  return judgeRefusal(seen, { ...suite, durationMs, capacityPerSecond: suite.baseline.capacityPerSecond });
}

const STRESS = 3;
const STRESSES = 3;
const FRESH_LOAD = 0.5;
/** Least number of fresh requests, of which rows of 20 are judged. */
const LEAST_FRESH = 40;
/** Longest recovery, where twice the deadline is not longer. */
const RECOVERY_MS = 1_000;

export async function measureRecovery(suite: Suite): Promise<Judgement> {
  const { sender, baseline, overloadMs, deadlineMs, seed, say } = suite;
  const rate = baseline.capacityPerSecond;
  const freshRate = FRESH_LOAD * rate;
  const freshCount = Math.max(LEAST_FRESH, Math.ceil((freshRate * overloadMs) / 1e3));
  if (!(await calm(suite))) return untold(NOT_CALM);
  say("half the capacity, before an overload");
  const before = await putRequests(sender, evenArrivals(LEAST_FRESH, freshRate), hurry(suite));
  const good = before.filter((each) => isAnswer(each) && judgeEnd(each, suite) !== "late").length;
  if (good < 0.95 * LEAST_FRESH) {
    return untold(
      `Even before an overload, only ${good} of ${LEAST_FRESH} requests at half the capacity met ${inMs(deadlineMs)}.`,
    );
  }
  const rounds: Seen[][] = [];
  for (let round = 0; round < STRESSES && !sender.stopped.aborted; round++) {
    if (!(await calm(suite))) return untold(NOT_CALM);
    say(`three times the capacity, then half of it (${round + 1} of ${STRESSES})`);
    const stress = poissonArrivals({
      ratePerSecond: STRESS * rate,
      durationMs: overloadMs,
      seed: seed + 1_000 + round,
    });
    const arrivals = Float64Array.from([...stress, ...evenArrivals(freshCount, freshRate, overloadMs)]);
    rounds.push((await putRequests(sender, arrivals, hurry(suite))).filter(({ atMs }) => atMs >= overloadMs));
  }
  const mostMs = Math.max(RECOVERY_MS, 2 * deadlineMs);
  return judgeRecovery(rounds, { ...suite, mostMs, watchedMs: (1e3 * freshCount) / freshRate });
}
