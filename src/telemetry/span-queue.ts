import type { Span } from "./span.ts";

/** Spans that wait to be sent: so many at most, further ones are dropped and counted. */
export class SpanQueue {
  readonly #max: number;
  #spans: Span[] = [];
  #dropped = 0;
  #untold = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(span: Span): void {
    if (this.#spans.length < this.#max) this.#spans.push(span);
    else this.drop(1);
  }

  /** Counts spans that nobody will get. */
  drop(count: number): void {
    this.#dropped += count;
    this.#untold += count;
  }

  get size(): number {
    return this.#spans.length;
  }

  /** Since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Takes the oldest, with how many were dropped since it was last asked. */
  take(max: number): { readonly spans: Span[]; readonly dropped: number } {
    const taken = { spans: this.#spans.slice(0, max), dropped: this.#untold };
    this.#spans = this.#spans.slice(max);
    this.#untold = 0;
    return taken;
  }
}
