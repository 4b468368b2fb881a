import type { ComponentChildren } from "preact";

/** What a badge says beside its words: never by colour alone. */
export type Tone = "good" | "busy" | "warn" | "bad" | "quiet";

/** A short word with a coloured dot. */
export function Badge({ tone, title, children }: { tone: Tone; title?: string; children: ComponentChildren }) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
