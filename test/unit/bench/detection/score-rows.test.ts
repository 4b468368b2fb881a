import { expect, it } from "vitest";
import { createScoreRows } from "../../../../bench/detection/score-rows.ts";

const CONTEXT = { bench: "detection", case: "x", rounds: 5, device: "cpu", software: false };
const quiet = { known: 0, found: 0, alarms: 0, falseAlarms: 0, points: 1_000, delays: [] };
const loud = { ...quiet, alarms: 7, falseAlarms: 7 };
const all = { ...quiet, known: 4, found: 4, alarms: 4, delays: [4, 4, 4, 4] };
const none = { ...quiet, known: 4 };

it("gives no false alarms a ratio, by half an alarm more for each", () => {
  const rows = createScoreRows(CONTEXT, [
    { name: "ours", online: quiet, whole: quiet },
    { name: "loud", online: loud, whole: null },
    { name: "quiet", online: quiet, whole: null },
    { name: "absent", reason: "it is not there" },
  ]);
  expect(rows.map(({ metric, peer, ours, peerValue, ratio }) => [metric, peer, ours, peerValue, ratio])).toEqual([
    ["false alarms", "loud", 0, 7, 15],
    ["false alarms", "quiet", 0, 0, 1],
    ["false alarms", "absent", 0, null, null],
  ]);
  expect(rows[2]?.reason).toBe("it is not there");
});

it("has no delay of a peer that found nothing, and no whole series of one that does not look back", () => {
  const rows = createScoreRows(CONTEXT, [
    { name: "ours", online: all, whole: all },
    { name: "blind", online: none, whole: null },
  ]);
  expect(rows.map(({ metric, ours, peerValue }) => [metric, ours, peerValue])).toEqual([
    ["precision", 1, 1],
    ["recall", 1, 0],
    ["F1", 1, 0],
    ["F1 of whole series", 1, null],
    ["delay", 4, null],
    ["false alarms", 0, 0],
  ]);
});
