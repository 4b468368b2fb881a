import { FairPlaces } from "../../protocol/inference/fair-places.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";

/** Time after which a refused request may come again: an inference, which holds most bodies, has often ended by then. */
const RETRY_MS = 250;

/** The room of one isolate: ordinary bodies, and files, of which the largest has it alone. */
export interface IsolateRoom {
  readonly bodies: FairPlaces<string>;
  readonly files: FairPlaces<string>;
}

export function openIsolateRoom(): IsolateRoom {
  return { bodies: new FairPlaces(LIMITS.bodiesBytes), files: new FairPlaces(LIMITS.fileBodiesBytes) };
}

const isolate = openIsolateRoom();

/** Room that the body of one request takes in its isolate, from the first byte until the reply is there. */
export class BodyRoom {
  readonly #holder: string;
  readonly #room: IsolateRoom;
  readonly #taken = { bodies: 0, files: 0 };

  /** The holder is a project, or an address without a key. */
  constructor(holder: string, room = isolate) {
    this.#holder = holder;
    this.#room = room;
  }

  /** Takes room for bytes of a body that has `mostBytes` in all; throws `overloaded` where its holder has too much. */
  take(bytes: number, mostBytes: number): void {
    const kind = mostBytes > LIMITS.inferBodyBytes ? "files" : "bodies";
    if (bytes === 0) return;
    if (!this.#room[kind].take(this.#holder, bytes)) {
      const detail = "Requests under way fill the memory that this project, or all, may take for bodies here.";
      throw new ProblemError("overloaded", detail, { retryAfterMs: RETRY_MS });
    }
    this.#taken[kind] += bytes;
  }

  giveBack(): void {
    for (const kind of ["bodies", "files"] as const) {
      if (this.#taken[kind] > 0) this.#room[kind].giveBack(this.#holder, this.#taken[kind]);
      this.#taken[kind] = 0;
    }
  }
}
