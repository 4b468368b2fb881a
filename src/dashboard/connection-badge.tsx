import { Badge, type Tone } from "./badge.tsx";
import type { FeedState } from "./use-feed.ts";

const SAYINGS: Record<FeedState, readonly [Tone, string, string]> = {
  open: ["good", "Live", "Changes appear as they happen"],
  connecting: ["busy", "Connecting", "Opening the live feed"],
  waiting: ["warn", "Reconnecting", "The live feed broke off; it is tried again, with growing pauses"],
  stopped: ["bad", "Not live", "The live feed ended with an error; reload the page to try again"],
};

/** Whether what is shown is kept up to date. */
export function ConnectionBadge({ state }: { state: FeedState }) {
  const [tone, word, title] = SAYINGS[state];
  return (
    <span role="status" class="connection">
      <Badge tone={tone} title={title}>
        {word}
      </Badge>
    </span>
  );
}
