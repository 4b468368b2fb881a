import type { Socket } from "node:net";
import { FrameSplitter, type Unit } from "../faults/frame-splitter.ts";

/** Faults of bytes on their way. `everyNth` message is sent twice, or after its successor. */
export type Weather =
  | { readonly kind: "clear" }
  | { readonly kind: "delay"; readonly delayMs: number }
  | { readonly kind: "half-open" }
  | { readonly kind: "duplicate"; readonly everyNth: number }
  | { readonly kind: "reorder"; readonly everyNth: number };

/** Time for which a message waits for one that could overtake it. */
const HELD_MS = 400;

export interface Way {
  /** A message was lost: the rest would have a gap, so nothing ever gets through again. */
  readonly isHalfOpen: boolean;
}

/** One direction of a connection. */
export class WeatheredWay implements Way {
  readonly #sink: Socket;
  readonly #weather: () => Weather;
  readonly #onText: (text: string) => void;
  readonly #splitter = new FrameSplitter();
  readonly #late: { readonly atMs: number; readonly bytes: Buffer }[] = [];
  #held: Unit | null = null;
  #messages = 0;
  isHalfOpen = false;

  constructor(sink: Socket, weather: () => Weather, onText: (text: string) => void = () => {}) {
    this.#sink = sink;
    this.#weather = weather;
    this.#onText = onText;
  }

  push(chunk: Buffer): void {
    this.isHalfOpen ||= this.#weather().kind === "half-open";
    for (const unit of this.#splitter.take(chunk)) {
      if (unit.text !== null) this.#onText(unit.text);
      if (!this.isHalfOpen) this.#pass(unit);
    }
  }

  #pass(unit: Unit): void {
    const weather = this.#weather();
    const isChosen = unit.isMessage && "everyNth" in weather && ++this.#messages % weather.everyNth === 0;
    if (isChosen && weather.kind === "reorder" && this.#held === null) {
      this.#held = unit;
      setTimeout(() => this.#release(), HELD_MS);
      return;
    }
    // Nothing overtakes a control frame or a part of a message.
    if (!unit.isMessage) this.#release();
    const delayMs = weather.kind === "delay" ? weather.delayMs : 0;
    this.#send(unit.bytes, delayMs);
    if (isChosen && weather.kind === "duplicate") this.#send(unit.bytes, delayMs);
    this.#release();
  }

  #release(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null && !this.isHalfOpen) this.#send(held.bytes, 0);
  }

  /** In the order of sending, whatever the delays. */
  #send(bytes: Buffer, delayMs: number): void {
    if (delayMs === 0 && this.#late.length === 0) return this.#write(bytes);
    const atMs = Math.max(performance.now() + delayMs, this.#late.at(-1)?.atMs ?? 0);
    this.#late.push({ atMs, bytes });
    if (this.#late.length === 1) this.#await();
  }

  #await(): void {
    const [next] = this.#late;
    if (next === undefined) return;
    setTimeout(
      () => {
        this.#late.shift();
        this.#write(next.bytes);
        this.#await();
      },
      Math.max(0, next.atMs - performance.now()),
    );
  }

  #write(bytes: Buffer): void {
    if (!this.#sink.destroyed) this.#sink.write(bytes);
  }
}
