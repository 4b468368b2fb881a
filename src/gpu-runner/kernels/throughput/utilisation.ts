/** Load on a device: submissions in flight, and items in each. */
export interface LoadSetting {
  readonly depth: number;
  readonly batch: number;
}

/** Observations of an interval. */
export interface LoadObservation {
  /** Share of the interval in which the device computed, 0 to 1. */
  readonly busyShare: number;
  /** From submission to the answer in host memory, at the 99th percentile. */
  readonly latencyMs: number;
}

/** Goal of the controller, and its caution. */
export interface LoadGoal {
  readonly targetBusyShare: number;
  /** Null where single answers have no deadline. */
  readonly latencyBudgetMs: number | null;
  readonly mode: "careful" | "aggressive";
  readonly maxDepth: number;
  readonly maxBatch: number;
}

/** Level and trend of double exponential smoothing. */
interface Trend {
  readonly level: number;
  readonly slope: number;
}

export interface LoadState {
  readonly setting: LoadSetting;
  readonly busy: Trend | null;
  readonly latency: Trend | null;
  /** State before the queue was last deepened, to see whether that helped. */
  readonly beforeDeepening: { readonly depth: number; readonly busyShare: number } | null;
  /** Upper limit of the depth: the first one without a gain. */
  readonly deepest: number;
  /** Items in flight that exceeded the latency budget; growth stays below. */
  readonly ceiling: number;
}

export type LoadMove = "hold" | "deepen" | "widen" | "narrow" | "shallow";

export interface LoadDecision {
  readonly state: LoadState;
  readonly move: LoadMove;
  /** Forecast of the next interval without a change. */
  readonly forecast: LoadObservation;
}

/** Weights of the newest level and slope. */
const LEVEL_WEIGHT = 0.6;
const SLOPE_WEIGHT = 0.3;
/** Least gain for which a deeper queue is kept. */
const LEAST_GAIN = 0.01;
/** Share of the budget that a growing step may use; the rest is for the tail that an interval does not show. */
const HEADROOM = { careful: 0.8, aggressive: 0.95 } as const;
const GROWTH = { careful: 1.5, aggressive: 2 } as const;
/** Growth of a ceiling per interval: a load that was too much once may fit later. */
const RELAXATION = { careful: 1.02, aggressive: 1.1 } as const;

export function startLoad(setting: LoadSetting): LoadState {
  return {
    setting,
    busy: null,
    latency: null,
    beforeDeepening: null,
    deepest: Number.POSITIVE_INFINITY,
    ceiling: Number.POSITIVE_INFINITY,
  };
}

/**
 * One step of control. Both figures are forecast one interval ahead. A latency that will exceed its budget is handled
 * first: fewer items per submission, then fewer submissions. A device that will be idle gets a deeper queue, which
 * hides gaps, as long as that helps, and then larger batches, which make gaps rarer. Neither happens where latency,
 * taken as proportional to the work in flight, would exceed its budget. A change resets the trends, since they describe
 * another setting.
 * Source: Holt's linear method, 1957.
 */
export function stepLoad(state: LoadState, seen: LoadObservation, goal: LoadGoal): LoadDecision {
  const busy = follow(state.busy, seen.busyShare);
  const latency = follow(state.latency, seen.latencyMs);
  const forecast = {
    busyShare: Math.min(1, Math.max(0, busy.level + busy.slope)),
    latencyMs: Math.max(0, latency.level + latency.slope),
  };
  const relaxed = { ...state, ceiling: state.ceiling * RELAXATION[goal.mode] };
  const changed = backOff(state, forecast, goal) ?? grow(relaxed, seen, forecast, goal);
  if (changed === null) return { state: { ...relaxed, busy, latency }, move: "hold", forecast };
  return { ...changed, state: { ...changed.state, busy: null, latency: null }, forecast };
}

/** Goal limited to settings that fit the device, in the dimension that grew too large. */
export function limitGoal(goal: LoadGoal, fitting: LoadSetting, tooLarge: LoadSetting): LoadGoal {
  return {
    ...goal,
    maxDepth: tooLarge.depth > fitting.depth ? fitting.depth : goal.maxDepth,
    maxBatch: tooLarge.batch > fitting.batch ? fitting.batch : goal.maxBatch,
  };
}

type Change = Pick<LoadDecision, "state" | "move"> | null;

function backOff(state: LoadState, forecast: LoadObservation, { latencyBudgetMs }: LoadGoal): Change {
  const { depth, batch } = state.setting;
  if (latencyBudgetMs === null || forecast.latencyMs <= latencyBudgetMs || depth * batch === 1) return null;
  const setting = batch > 1 ? { depth, batch: Math.floor(batch / 2) } : { depth: depth - 1, batch };
  const move = batch > 1 ? "narrow" : "shallow";
  return { move, state: { ...state, setting, beforeDeepening: null, ceiling: depth * batch } };
}

function grow(state: LoadState, seen: LoadObservation, forecast: LoadObservation, goal: LoadGoal): Change {
  if (forecast.busyShare >= goal.targetBusyShare) return null;
  const { setting, beforeDeepening: before, ceiling } = state;
  const work = setting.depth * setting.batch;
  const roomMs = HEADROOM[goal.mode] * (goal.latencyBudgetMs ?? Number.POSITIVE_INFINITY);
  const fits = (next: LoadSetting) => {
    const nextWork = next.depth * next.batch;
    return nextWork < ceiling && (forecast.latencyMs * nextWork) / work <= roomMs;
  };
  const helped = before === null || seen.busyShare - before.busyShare >= LEAST_GAIN;
  const deepest = helped ? Math.min(state.deepest, goal.maxDepth) : before.depth;
  const { batch } = setting;
  const deeper = { depth: Math.min(deepest, goal.mode === "careful" ? setting.depth + 1 : 2 * setting.depth), batch };
  if (deeper.depth > setting.depth && fits(deeper)) {
    const beforeDeepening = { depth: setting.depth, busyShare: seen.busyShare };
    return { move: "deepen", state: { ...state, setting: deeper, beforeDeepening } };
  }
  const depth = Math.min(setting.depth, deepest);
  const wider = { depth, batch: Math.min(goal.maxBatch, Math.ceil(GROWTH[goal.mode] * batch)) };
  if (wider.batch === batch || !fits(wider)) return null;
  return { move: "widen", state: { ...state, setting: wider, beforeDeepening: null, deepest } };
}

function follow(trend: Trend | null, value: number): Trend {
  if (trend === null) return { level: value, slope: 0 };
  const level = LEVEL_WEIGHT * value + (1 - LEVEL_WEIGHT) * (trend.level + trend.slope);
  return { level, slope: SLOPE_WEIGHT * (level - trend.level) + (1 - SLOPE_WEIGHT) * trend.slope };
}
