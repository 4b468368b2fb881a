import { and, eq, isNull } from "drizzle-orm";
import { LIMITS } from "../../protocol/limits.ts";
import type { PolicyCard } from "../../protocol/policy-card.ts";
import type { PolicyNetwork } from "../../protocol/policy-network.ts";
import type { Database } from "./database.ts";
import { modelVersions } from "./schema.ts";

type Score = PolicyCard["scores"][number];

const CARD_RACES = 100;

/**
 * Puts a score on top of a version's card, which begins with it where there is none. The same run's again replaces it.
 * Of several at once none is lost: whoever finds another card than was read begins again.
 */
export async function addPolicyScore(
  db: Database,
  versionId: string,
  network: PolicyNetwork,
  score: Score,
): Promise<void> {
  for (let race = 0; race < CARD_RACES; race++) {
    const [row] = await db
      .select({ card: modelVersions.card })
      .from(modelVersions)
      .where(eq(modelVersions.id, versionId));
    if (row === undefined) return;
    const known = row.card ?? { environment: score.environment, network, training: null, scores: [] };
    const asRead = row.card === null ? isNull(modelVersions.card) : eq(modelVersions.card, row.card);
    const updated = await db
      .update(modelVersions)
      .set({ card: withScore(known, score) })
      .where(and(eq(modelVersions.id, versionId), asRead))
      .returning({ id: modelVersions.id });
    if (updated.length > 0) return;
  }
  throw new Error(`the card of ${versionId} was written by others all the time`);
}

function withScore(card: PolicyCard, score: Score): PolicyCard {
  const others = card.scores.filter(({ runId }) => runId !== score.runId);
  const scores = [score, ...others].toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, LIMITS.policyScores);
  return { ...card, scores };
}
