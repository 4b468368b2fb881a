import type { KindWords } from "./kind.ts";

const OUTCOMES = {
  pass: ["good", "true"],
  fail: ["bad", "not so"],
  insufficient: ["bad", "not so"],
} as const;

export const probe: KindWords<"probe"> = {
  kind: "probe",
  name: ({ deviceKey }) => deviceKey ?? "a device",
  parts: () => ["claims"],
  result: ({ ok, claims }) => ({
    table: {
      caption: "Claims",
      columns: ["claim", "outcome", "claimed", "found"],
      rows: claims.map((each) => [each.claim, judge(each.ok), each.claimed, each.found]),
    },
    facts: [["verdict", judge(ok)]],
  }),
  verdict: ({ ok }) => (ok ? "pass" : "fail"),
  outcomes: OUTCOMES,
  links: ({ runnerId }) =>
    runnerId === null ? [] : [{ text: "The runner", address: { view: "runners", runner: runnerId } }],
  again: (spec) => spec,
};

function judge(ok: boolean) {
  const [tone, word] = OUTCOMES[ok ? "pass" : "fail"];
  return { tone, word };
}
