export type EventKind = "up" | "down" | "spike" | "hardware";

const SHAPES: Record<EventKind, string> = {
  up: "M6 2 11 10H1Z",
  down: "M6 10 11 2H1Z",
  spike: "M6 2a4 4 0 1 0 .01 0Z",
  hardware: "M6 0v3M6 5v3M6 10v2",
};

/** The sign that a plot has for what happened; the words beside it tell the same. */
export function EventSign({ kind, tone }: { kind: EventKind; tone: string }) {
  return (
    <svg class={`event-sign ${kind} ${tone}`} viewBox="0 0 12 12" aria-hidden="true">
      <path d={SHAPES[kind]} />
    </svg>
  );
}
