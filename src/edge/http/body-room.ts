import { LIMITS } from "../../protocol/wire/limits.ts";
import { type HeavyCall, HeavyPlaces } from "../heavy-places.ts";

const MiB = 2 ** 20;
/** Longest time in which a body comes, as long as Node's HTTP server waits. */
export const BODY_MS = 300_000;
/** Bytes of a project's bodies, and of all, that an isolate holds of its 128 MB; a request lasts no longer than the lease. */
const ROOM = { ofOne: 32 * MiB, ofAll: 64 * MiB, leaseMs: BODY_MS + LIMITS.maxBudgetMs };
/** What one body counts as at most: while a model is uploaded, its project's inferences have room. */
const MOST_BYTES = 24 * MiB;
/** Room of a body whose length is not known yet, at first. */
const FIRST_BYTES = 262_144;
/** An inference has a budget, which few have left after half a second. */
export const INFERENCE_WAIT_MS = 500;

/**
 * Room for the bodies that this isolate holds in memory. Without it, one project fills an isolate with long bodies that
 * come slowly.
 */
export const bodyPlaces = new HeavyPlaces("long bodies", ROOM, { ofOne: 64, ofAll: 256 });

type BodyCall = Omit<HeavyCall, "amount">;

interface Holder {
  readonly call: BodyCall;
  /** Settles when the request is answered. */
  readonly answered: Promise<void>;
  isAnswered: boolean;
  place?: { readonly at: object; bytes: number };
}

const holders = new WeakMap<Request, Holder>();

/** Answers a request, whose body may take room for its project until then. */
export async function withBodyRoom<Result>(
  request: Request,
  call: BodyCall,
  answer: () => Promise<Result>,
): Promise<Result> {
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  const holder: Holder = { call, answered, isAnswered: false };
  holders.set(request, holder);
  try {
    return await answer();
  } finally {
    holder.isAnswered = true;
    leave(holder);
    resolve();
  }
}

/**
 * Takes room for `bytes` of a request's body, if it is long. The first time it waits; more is there at once or not, so
 * that no two wait for each other. Throws `overloaded` without room.
 */
export async function takeBodyRoom(request: Request, bytes: number): Promise<void> {
  const holder = holders.get(request);
  const amount = Math.min(bytes, MOST_BYTES);
  if (holder === undefined || (holder.place === undefined && bytes <= LIMITS.shortBodyBytes)) return;
  if (holder.place === undefined) return enter(holder, amount);
  if (holder.place.bytes === amount) return;
  if (!bodyPlaces.working.resize(holder.place.at, amount, Date.now())) throw bodyPlaces.refuse(holder.call.project);
  holder.place.bytes = amount;
}

/** Makes room for a body that is still coming: twice the `bytes` that are here, at most `mostBytes`. */
export async function growBodyRoom(request: Request, bytes: number, mostBytes: number): Promise<void> {
  const has = holders.get(request)?.place?.bytes ?? 0;
  if (bytes <= Math.max(has, LIMITS.shortBodyBytes)) return;
  await takeBodyRoom(request, Math.min(mostBytes, Math.max(FIRST_BYTES, 2 * bytes)));
}

async function enter(holder: Holder, bytes: number): Promise<void> {
  const { call, answered } = holder;
  // A request whose caller has gone ends without a word: the room is held until its work has ended.
  call.waitUntil(answered);
  const at = await bodyPlaces.enter({ ...call, amount: bytes });
  holder.place = { at, bytes };
  if (holder.isAnswered) leave(holder);
}

function leave({ place }: Holder): void {
  if (place !== undefined) bodyPlaces.working.leave(place.at);
}
