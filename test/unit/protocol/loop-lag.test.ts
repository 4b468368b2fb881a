import { expect, it } from "vitest";
import { LoopLag } from "../../../src/protocol/inference/loop-lag.ts";

/** A loop whose turns end when the test says so, at a time of its clock. */
function startLoop() {
  let nowMs = 1_000;
  const turns: (() => void)[] = [];
  const lag = new LoopLag(() => nowMs);
  const begin = () => lag.beforeRequest(() => new Promise<void>((resolve) => turns.push(resolve)));
  const pass = (tookMs: number) => {
    nowMs += tookMs;
  };
  const endTurn = async (tookMs: number) => {
    pass(tookMs);
    for (const end of turns.splice(0)) end();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { begin, pass, endTurn, lose: () => turns.splice(0), measured: () => turns.length };
}

it("a request may have waited for as long as the last turn of the loop took", async () => {
  const { begin, endTurn } = startLoop();
  expect(begin()).toBe(0);
  await endTurn(25);
  expect([begin(), begin()]).toEqual([25, 25]);
  await endTurn(7);
  expect(begin()).toBe(7);
});

it("and since this one began, where the clock goes on", async () => {
  const { begin, pass, endTurn } = startLoop();
  begin();
  await endTurn(25);
  begin();
  pass(10);
  expect(begin()).toBe(35);
});

it("nobody waited for an idle loop, nor for one that was late before a rest", async () => {
  const { begin, pass, endTurn } = startLoop();
  begin();
  await endTurn(2);
  expect(begin()).toBe(0);
  await endTurn(500);
  pass(4);
  expect(begin()).toBe(0);
});

it("nor while the clock was set back", async () => {
  const { begin, endTurn } = startLoop();
  begin();
  await endTurn(-50);
  expect(begin()).toBe(0);
});

it("a turn that was lost with its request is measured anew", async () => {
  const { begin, pass, lose, endTurn } = startLoop();
  begin();
  lose();
  pass(1_001);
  expect(begin()).toBe(0);
  await endTurn(12);
  expect(begin()).toBe(12);
});

it("one request of a turn measures it", async () => {
  const { begin, endTurn, measured } = startLoop();
  for (let request = 0; request < 5; request++) begin();
  expect(measured()).toBe(1);
  await endTurn(10);
  begin();
  expect(measured()).toBe(1);
});
