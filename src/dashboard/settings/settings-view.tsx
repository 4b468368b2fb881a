import { keyEndpoints } from "../../protocol/service/key-endpoints.ts";
import type { ComponentType } from "preact";
import { useCallback } from "preact/hooks";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { Refusal } from "../ui/panels.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { AuditPart } from "./audit-part.tsx";
import { KeyPart } from "./key-part.tsx";
import type { PartProps } from "./part-shell.tsx";
import { ProfilePart } from "./profile-part.tsx";
import { ProjectPart } from "./project-part.tsx";
import { QuotaPart } from "./quota-part.tsx";
import { RequirementPart } from "./requirement-part.tsx";
import { ThresholdPart } from "./threshold-part.tsx";
import { TokenPart } from "./token-part.tsx";
import { WebhookPart } from "./webhook-part.tsx";

type Part = readonly [name: string, words: string, part: ComponentType<PartProps>];

const PARTS: readonly Part[] = [
  ["keys", "Keys", KeyPart],
  ["tokens", "Tokens of runners", TokenPart],
  ["profiles", "Hardware profiles", ProfilePart],
  ["thresholds", "Thresholds", ThresholdPart],
  ["requirements", "Requirement sets", RequirementPart],
  ["webhooks", "Webhooks", WebhookPart],
  ["quotas", "Quotas", QuotaPart],
  ["audit", "What was done", AuditPart],
];
const OPERATORS_PARTS: readonly Part[] = [...PARTS, ["projects", "Projects", ProjectPart]];

/**
 * The view of keys, tokens, profiles, thresholds, requirement sets, webhooks, quotas, acts and projects: one part at a
 * time.
 */
export function SettingsView({ client, subscribe, address }: ViewProps) {
  const rights = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        try {
          const { items } = await client.call(keyEndpoints.listKeys, { query: { limit: 1 }, signal });
          // The owner of another project's key finds it in the list; the operator may have only the first secret.
          return { administers: true, operates: (items[0]?.project ?? MAIN_PROJECT) === MAIN_PROJECT };
        } catch (error) {
          // A key does not know its own scopes; the refusal shows them.
          if (error instanceof ProblemError && error.problem.code === "forbidden") {
            return { administers: false, operates: false };
          }
          throw error;
        }
      },
      [client],
    ),
  );
  const parts = rights.value?.operates === true ? OPERATORS_PARTS : PARTS;
  const [current, , Part] = parts.find(([name]) => name === address.part) ?? PARTS[0]!;
  return (
    <main id="content" tabIndex={-1} aria-busy={rights.value === null && rights.error === null}>
      <h1 class="unseen">Settings</h1>
      <nav class="parts" aria-label="Settings">
        {parts.map(([name, words]) => (
          <a
            key={name}
            href={`/${writeAddress({ view: "settings", part: name })}`}
            aria-current={name === current ? "page" : undefined}
          >
            {words}
          </a>
        ))}
      </nav>
      <Refusal text={rights.error?.message ?? null} />
      {rights.value !== null && <Part key={current} client={client} subscribe={subscribe} {...rights.value} />}
    </main>
  );
}
