import { expect, test } from "vitest";
import { nameResult } from "../../../bench/save-results.ts";

test("a result is named for its bench, day and device", () => {
  const row = { bench: "hop", device: "Intel(R) Xeon(R) Processor" };
  expect(nameResult(row, "2026-11-21T12:00:00.000Z")).toBe("hop-2026-11-21-intel-r-xeon-r-processor.jsonl");
});
