import { describe, expect, it } from "vitest";
import { placeErrors } from "../../../src/dashboard/ui/forms/read-form.ts";

describe("errors of a form", () => {
  const fields = ["#/name", "#/targets", "#/targets/latencyMs", "#/scopes"];

  it("stand at the field that their pointer names, or at the nearest around it", () => {
    const { byField, others } = placeErrors(
      [
        { pointer: "#/targets/latencyMs", message: "must be above 0" },
        { pointer: "#/targets/percentile", message: "must be below 1" },
        { pointer: "#/scopes/0", message: "is not a scope" },
      ],
      fields,
    );
    expect([...byField]).toEqual([
      ["#/targets/latencyMs", "must be above 0"],
      ["#/targets", "must be below 1"],
      ["#/scopes", "is not a scope"],
    ]);
    expect(others).toEqual([]);
  });

  it("are shown together where a field has several, and apart where it has none", () => {
    const stale = { pointer: "header/if-match", message: "is not the current ETag" };
    const { byField, others } = placeErrors(
      [{ pointer: "#/name", message: "is taken" }, { pointer: "#/name", message: "is too long" }, stale],
      fields,
    );
    expect([...byField]).toEqual([["#/name", "is taken; is too long"]]);
    expect(others).toEqual([stale]);
  });

  it("of a longer name are not of a shorter one", () => {
    expect(placeErrors([{ pointer: "#/names", message: "wrong" }], fields).byField.size).toBe(0);
  });
});
