import { describe, expect, it } from "vitest";
import { readAddress, writeAddress } from "../../../src/dashboard/ui/page-address.ts";

describe("the address of the page", () => {
  it("comes back as it was written", () => {
    const address = { view: "history", series: "ser_1", window: "7 d", a: "label:main", b: "label:a & b" } as const;
    expect(readAddress(writeAddress(address))).toEqual(address);
    const judged = { view: "validation", run: "run_1", runner: "rnr_1", job: "job_1" } as const;
    expect(readAddress(writeAddress(judged))).toEqual(judged);
    const listed = { view: "jobs", kind: "tuning", state: "failed", cursor: "WyJqb2JfMSJd" } as const;
    expect(readAddress(writeAddress(listed))).toEqual(listed);
    const replayed = { view: "evaluations", part: "trainings", replay: "0.2.137", span: "a/b" } as const;
    expect(readAddress(writeAddress(replayed))).toEqual(replayed);
  });

  it("is empty where nothing is picked, and a fragment of something else picks nothing", () => {
    expect(writeAddress({ view: "overview" })).toBe("");
    expect(readAddress("#content")).toEqual({ view: "overview" });
    expect(readAddress("#view=nowhere&series=")).toEqual({ view: "overview" });
  });
});
