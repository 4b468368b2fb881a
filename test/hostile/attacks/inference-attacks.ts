import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Attacker } from "../attacker/attacker.ts";
import { placeNetwork } from "../attacker/own-runner.ts";
import { SERVED, SERVED_ROWS, writeNetwork, writeRequest } from "../served-network.ts";
import type { Attack } from "./attack.ts";

const MODEL = "loud";
const INFER = "/v1/infer";
const FRAME = { "content-type": FRAME_MEDIA_TYPE, accept: FRAME_MEDIA_TYPE };
const UNKNOWN = '{"model":"nobody","budgetMs":500,"inputs":{}}';
const LONG_BUDGET_MS = LIMITS.maxBudgetMs;
/** Names of tensors as long as they may be. */
const LONG = { input: "i".repeat(LIMITS.tensorNameLength), output: "o".repeat(LIMITS.tensorNameLength) };

/** A flood of inferences of a network on the shared runner, with wishes of their own. */
function flooding(callers: number, wishesOf: (count: number) => { rows?: number } & Record<string, unknown>) {
  return async (attacker: Attacker) => {
    await placeNetwork(attacker, MODEL, writeNetwork(SERVED, 2));
    return () =>
      attacker.flood(callers, (count) => {
        const { rows = SERVED_ROWS, ...wishes } = wishesOf(count);
        const asked = { model: MODEL, budgetMs: 500, backend: "ort-cpu", ...wishes };
        return attacker.ask("POST", INFER, { headers: FRAME, body: writeRequest(SERVED, rows, asked) });
      });
  };
}

export const INFERENCE_ATTACKS: readonly Attack[] = [
  {
    name: "unknown-models",
    does: "three hundred versions with the longest names of tensors, then sixty requests at once for an unknown model",
    prepare: async (attacker) => {
      const upload = (seed: number) =>
        attacker.make("POST", "/v1/models?name=tale", { body: writeNetwork({ widths: [1, 1], ...LONG }, seed) });
      await upload(1);
      await attacker.make("PUT", "/v1/models/tale/placement", { body: { kind: "none" } });
      for (let seed = 2; seed <= 300; seed += 10)
        await Promise.all(Array.from({ length: 10 }, (_, at) => upload(seed + at)));
      return () => attacker.flood(60, () => attacker.ask("POST", INFER, { body: UNKNOWN }));
    },
  },
  {
    name: "priority",
    does: "thirty clients at priority 9 on the shared runner",
    prepare: flooding(30, () => ({ priority: 9 })),
  },
  {
    name: "patient",
    does: "six hundred clients who wait for ten minutes for room on the shared runner",
    prepare: flooding(600, () => ({ budgetMs: LONG_BUDGET_MS, refuseWithinMs: LONG_BUDGET_MS })),
  },
  {
    name: "shapes",
    does: "a hundred shapes of inputs in turn",
    prepare: flooding(30, (count) => ({ rows: 1 + (count % 100) })),
  },
  {
    name: "tiny-budgets",
    does: "a hundred clients with budgets that nothing can keep",
    prepare: flooding(100, (count) => ({ budgetMs: count % 2 === 0 ? LIMITS.minBudgetMs : 1, rows: 1 })),
  },
  {
    name: "best-effort",
    does: "sixty clients with small budgets who want the fastest placement to try",
    prepare: flooding(60, () => ({ budgetMs: 5, onMiss: "best-effort", confidence: 0.5 })),
  },
  {
    name: "vanishing-callers",
    does: "a hundred clients who close the connection just after their request",
    prepare: async (attacker) => {
      await placeNetwork(attacker, MODEL, writeNetwork(SERVED, 2));
      const body = writeRequest(SERVED, SERVED_ROWS, { model: MODEL, budgetMs: 500, backend: "ort-cpu" });
      const headers = { ...FRAME, authorization: `Bearer ${attacker.key}` };
      return () =>
        attacker.flood(100, async () => {
          const signal = AbortSignal.timeout(10);
          const answer = await fetch(new URL(INFER, attacker.url), { method: "POST", headers, body, signal }).then(
            ({ status }) => String(status),
            () => "gone",
          );
          attacker.answers.count(answer);
        });
    },
  },
  {
    name: "tickets",
    does: "tickets of ten minutes by the thousand, each used once at the shared runner's own listener",
    prepare: async (attacker) => {
      await placeNetwork(attacker, MODEL, writeNetwork(SERVED, 2));
      const wish = { model: MODEL, budgetMs: 500, lifeMs: LIMITS.maxTicketMs, requests: LIMITS.maxTicketRequests };
      const frame = writeRequest(SERVED, 1, { model: MODEL, budgetMs: 500 });
      return () =>
        attacker.flood(30, async () => {
          const { status, bytes } = await attacker.ask("POST", "/v1/tickets", { body: wish });
          if (status !== 201) return;
          const { ticket, url } = JSON.parse(new TextDecoder().decode(bytes)) as { ticket: string; url: string };
          await attacker.ask("POST", url, { key: ticket, headers: FRAME, body: frame });
        });
    },
  },
  {
    name: "policy-streams",
    does: "fifty WebSockets with sixty-four observations each under way, every sixteenth as large as a message may be",
    prepare: async (attacker) => {
      const form = { widths: [4, 16, 2], input: "observation", output: "logits" };
      await placeNetwork(attacker, "policy", writeNetwork(form, 3));
      const url = `${attacker.url.replace("http", "ws")}/v1/policies/policy/stream?budgetMs=500`;
      return () => attacker.flood(50, () => streamObservations(attacker, url));
    },
  },
];

/** Asks again with each answer, until the attack ends or the edge closes the stream. */
async function streamObservations({ answers, signal, key }: Attacker, url: string): Promise<void> {
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } } as never);
  const large = `{"seq":1,"observation":[${"0,".repeat(LIMITS.streamedMessageBytes / 2 - 32)}0]}`;
  let seq = 0;
  const next = () => socket.send(++seq % 16 === 0 ? large : JSON.stringify({ seq, observation: [0, 0, 0, 0] }));
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  socket.addEventListener("open", () => {
    for (let sent = 0; sent < LIMITS.streamedObservations; sent++) next();
  });
  socket.addEventListener("message", ({ data }) => {
    const { problem } = JSON.parse(String(data)) as { problem?: { code: string; status: number } };
    answers.count(problem === undefined ? "action" : `${problem.status} ${problem.code}`);
    if (socket.readyState === WebSocket.OPEN) next();
  });
  socket.addEventListener("close", ({ code }) => {
    if (!signal.aborted) answers.count(`closed ${code}`);
    resolve();
  });
  socket.addEventListener("error", () => resolve());
  signal.addEventListener("abort", () => socket.close(), { once: true });
  await closed;
}
