import { endpoints } from "../../src/protocol/endpoints.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import { BUDGET_MS, type HopCase, nameModel, writeModel } from "./hop-case.ts";
import type { FindTarget } from "./open-stream.ts";
import type { Aim } from "./post-frame.ts";
import type { Stack } from "./start-stack.ts";

const RENEW_AFTER_MS = LIMITS.ticketMs / 2;

/** Our stack by the way of the case: over the edge, or with tickets to the runner itself. */
export function findOurs(stack: Stack): FindTarget {
  return async (input) => {
    await stack.place(nameModel(input), writeModel(input));
    const overEdge = { url: new URL(endpoints.infer.path, stack.url), bearer: stack.key };
    const aim = input.way === "edge" ? async () => overEdge : aimByTicket(stack, input);
    return { aim, close: async () => {} };
  };
}

/**
 * The runner itself, with a ticket that is renewed at half of its life. Tickets are requested here and not by the
 * client's channel, so that both ways and the peers use the same sockets.
 */
function aimByTicket({ client }: Stack, input: HopCase): () => Promise<Aim> {
  const renew = async (): Promise<Aim> => {
    const body = { model: nameModel(input), budgetMs: BUDGET_MS };
    const { url, ticket } = await client.call(endpoints.createTicket, { body });
    return { url: new URL(url), bearer: ticket };
  };
  let aim: Promise<Aim> | null = null;
  let renewedAtMs = 0;
  return () => {
    if (aim === null || performance.now() - renewedAtMs > RENEW_AFTER_MS) {
      renewedAtMs = performance.now();
      aim = renew();
    }
    return aim;
  };
}
