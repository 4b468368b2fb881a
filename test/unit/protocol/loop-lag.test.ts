import { expect, it } from "vitest";
import { LoopLag } from "../../../src/protocol/inference/loop-lag.ts";

/** A loop with another request under way, whose turns end when the test says so, at a time of its clock. */
function startLoop({ isAlone = false, lostMs = 250 } = {}) {
  let nowMs = 1_000;
  const turns: (() => void)[] = [];
  const lag = new LoopLag(() => nowMs, lostMs);
  const start = () => lag.begin(() => new Promise<void>((resolve) => turns.push(resolve)));
  const begin = () => start().unseenMs;
  const pass = (tookMs: number) => {
    nowMs += tookMs;
  };
  const endTurn = async (tookMs: number) => {
    pass(tookMs);
    for (const end of turns.splice(0)) end();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  if (!isAlone) begin();
  return { begin, start, pass, endTurn, lose: () => turns.splice(0), measured: () => turns.length };
}

it("a request may have waited for as long as the last turn of the loop took", async () => {
  const { begin, endTurn } = startLoop();
  await endTurn(25);
  expect([begin(), begin()]).toEqual([25, 25]);
  await endTurn(7);
  expect(begin()).toBe(7);
});

it("and since this one began, where the clock goes on", async () => {
  const { begin, pass, endTurn } = startLoop();
  await endTurn(25);
  begin();
  pass(10);
  expect(begin()).toBe(35);
});

it("nobody waited for an idle loop, nor for one that was late before a rest", async () => {
  const { begin, pass, endTurn } = startLoop();
  await endTurn(2);
  expect(begin()).toBe(0);
  await endTurn(200);
  pass(2);
  expect(begin()).toBe(0);
});

it("a caller that sends one request after the other does not wait for itself", async () => {
  const { begin, start, endTurn } = startLoop({ isAlone: true });
  const first = start();
  await endTurn(40);
  first.end();
  expect(begin()).toBe(0);
  await endTurn(40);
  expect(begin()).toBe(40);
});

it("nor for one that never said that it ended", async () => {
  const { begin, start, pass, endTurn } = startLoop();
  pass(300);
  const first = start();
  await endTurn(40);
  first.end();
  expect(begin()).toBe(0);
});

it("however long a turn is, it counts where none is ever lost", async () => {
  const { begin, start, endTurn } = startLoop({ isAlone: true, lostMs: Number.POSITIVE_INFINITY });
  await endTurn(0);
  start();
  await endTurn(900);
  expect(begin()).toBe(0);
  start();
  await endTurn(200);
  expect(begin()).toBe(200);
});

it("a turn that was lost with its request is measured anew, and counts for nobody", async () => {
  const { begin, pass, lose, endTurn } = startLoop();
  lose();
  pass(251);
  expect(begin()).toBe(0);
  await endTurn(12);
  expect(begin()).toBe(12);
});

it.each([-50, 3_600_000])("nor does a clock that was set by %d ms", async (byMs) => {
  const { begin, endTurn } = startLoop();
  await endTurn(byMs);
  expect(begin()).toBe(0);
});

it("one request of a turn measures it", async () => {
  const { begin, endTurn, measured } = startLoop();
  for (let request = 0; request < 5; request++) begin();
  expect(measured()).toBe(1);
  await endTurn(10);
  begin();
  expect(measured()).toBe(1);
});
