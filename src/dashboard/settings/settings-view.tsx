import type { ComponentType } from "preact";
import { useCallback } from "preact/hooks";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { writeAddress } from "../page-address.ts";
import { useResource } from "../use-resource.ts";
import type { ViewProps } from "../view-props.ts";
import { KeyPart } from "./key-part.tsx";
import type { PartProps } from "./part-props.ts";
import { ProfilePart } from "./profile-part.tsx";
import { RequirementPart } from "./requirement-part.tsx";
import { ThresholdPart } from "./threshold-part.tsx";
import { TokenPart } from "./token-part.tsx";
import { WebhookPart } from "./webhook-part.tsx";

const PARTS: readonly (readonly [name: string, words: string, part: ComponentType<PartProps>])[] = [
  ["keys", "Keys", KeyPart],
  ["tokens", "Tokens of runners", TokenPart],
  ["profiles", "Hardware profiles", ProfilePart],
  ["thresholds", "Thresholds", ThresholdPart],
  ["requirements", "Requirement sets", RequirementPart],
  ["webhooks", "Webhooks", WebhookPart],
];

/** The view of keys, tokens, profiles, thresholds, requirement sets and webhooks: one part at a time. */
export function SettingsView({ client, subscribe, address }: ViewProps) {
  const administers = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        try {
          await client.call(endpoints.listKeys, { query: { limit: 1 }, signal });
          return true;
        } catch (error) {
          // A key does not know its own scopes: what it is refused tells.
          if (error instanceof ProblemError && error.problem.code === "forbidden") return false;
          throw error;
        }
      },
      [client],
    ),
  );
  const [current, , Part] = PARTS.find(([name]) => name === address.part) ?? PARTS[0]!;
  return (
    <main id="content" tabIndex={-1} aria-busy={administers.value === null && administers.error === null}>
      <h1 class="unseen">Settings</h1>
      <nav class="parts" aria-label="Settings">
        {PARTS.map(([name, words]) => (
          <a
            key={name}
            href={`/${writeAddress({ view: "settings", part: name })}`}
            aria-current={name === current ? "page" : undefined}
          >
            {words}
          </a>
        ))}
      </nav>
      {administers.error !== null && (
        <p class="notice bad" role="alert">
          {administers.error.message}
        </p>
      )}
      {administers.value !== null && (
        <Part key={current} client={client} subscribe={subscribe} administers={administers.value} />
      )}
    </main>
  );
}
