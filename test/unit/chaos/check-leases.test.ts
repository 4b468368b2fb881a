import { expect, it } from "vitest";
import { createId } from "../../../src/protocol/wire/id.ts";
import { checkLeases } from "../../chaos/promises/check-leases.ts";
import { Ledger } from "../../chaos/promises/ledger.ts";

const jobId = createId("job");

function judge(...offers: readonly [runner: string, epoch: number, attempt: number][]): string[] {
  const ledger = new Ledger();
  for (const [runner, epoch, attempt] of offers) ledger.offers.push({ runner, lease: { jobId, epoch }, attempt });
  return checkLeases(ledger);
}

it("takes leases whose epochs are one runner's each and whose attempts do not fall, in any order of arrival", () => {
  expect(judge(["a", 1, 1], ["b", 3, 2], ["a", 2, 1])).toEqual([]);
});

it("finds an epoch that two were given, and an attempt that fell", () => {
  expect(judge(["a", 1, 1], ["b", 1, 1])).toEqual([expect.stringContaining("epoch 1 was given to a and b")]);
  expect(judge(["a", 1, 2], ["b", 2, 1])).toEqual([expect.stringContaining("attempt 1 of epoch 2 follows attempt 2")]);
});
