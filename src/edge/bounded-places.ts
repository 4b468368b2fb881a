import { FairPlaces } from "../protocol/inference/fair-places.ts";

interface Held {
  readonly holder: string;
  seenAtMs: number;
}

export interface Bounds {
  /** Places of one holder. */
  readonly ofOne: number;
  readonly ofAll: number;
  /** Time after which a place counts as left: the platform may end a request without a word. */
  readonly leaseMs: number;
}

/** Holders whose last turns are known. */
const KNOWN_HOLDERS = 1_000;

/** Limits the places of each holder and of all. The last free places go to holders that have few (`FairPlaces`). */
export class BoundedPlaces {
  readonly #bounds: Bounds;
  /** In the order in which they were taken. */
  readonly #held = new Map<object, Held>();
  readonly #places: FairPlaces<string>;
  /** Number of the last turn of each holder, the latest last. */
  readonly #turns = new Map<string, number>();
  #lastTurn = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#places = new FairPlaces(bounds.ofAll);
  }

  hasRoom(holder: string, nowMs: number): boolean {
    const own = this.#alive(nowMs).filter((held) => held.holder === holder);
    return own.length < this.#bounds.ofOne && this.#places.hasRoom(holder);
  }

  /** A place, which must be left; null where the holder or all have too many. */
  enter(holder: string, nowMs: number): object | null {
    if (!this.hasRoom(holder, nowMs)) return null;
    this.#places.take(holder);
    const place = {};
    this.#held.set(place, { holder, seenAtMs: nowMs });
    return place;
  }

  has(place: object): boolean {
    return this.#held.has(place);
  }

  leave(place: object): void {
    const held = this.#held.get(place);
    if (held === undefined) return;
    this.#held.delete(place);
    this.#places.giveBack(held.holder);
  }

  /**
   * Takes the turn of this place, which is kept alive, if its holder comes next: of those for which there is room, the
   * one whose last turn is longest ago, by the place that it took first.
   */
  takeTurn(place: object, nowMs: number, hasRoom: (holder: string) => boolean): boolean {
    const own = this.#held.get(place);
    if (own === undefined) return false;
    own.seenAtMs = nowMs;
    // Mostly there is no room at all.
    if (!hasRoom(own.holder)) return false;
    let next: Held | undefined;
    for (const held of this.#alive(nowMs)) {
      const isEarlier = next === undefined || this.#turnOf(held) < this.#turnOf(next);
      if (isEarlier && hasRoom(held.holder)) next = held;
    }
    if (next !== own) return false;
    this.#turns.delete(own.holder);
    this.#turns.set(own.holder, ++this.#lastTurn);
    if (this.#turns.size > KNOWN_HOLDERS) this.#turns.delete(this.#turns.keys().next().value!);
    return true;
  }

  #turnOf({ holder }: Held): number {
    return this.#turns.get(holder) ?? 0;
  }

  #alive(nowMs: number): Held[] {
    for (const [place, { seenAtMs }] of this.#held) if (nowMs - seenAtMs >= this.#bounds.leaseMs) this.leave(place);
    return [...this.#held.values()];
  }
}
