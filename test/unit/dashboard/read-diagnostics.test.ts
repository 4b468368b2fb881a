import { describe, expect, it } from "vitest";
import { readDiagnostics } from "../../../src/dashboard/kernels/read-diagnostics.ts";

describe("what a compiler said", () => {
  it("is found by file, with its line and column", () => {
    const text = "krn_1/own.wgsl:11:3: expected ';'\nkrn_1/own.wgsl:14:7: unresolved value: x";
    expect(readDiagnostics(text, "own.wgsl")).toEqual([
      { line: 11, column: 3, message: "expected ';'" },
      { line: 14, column: 7, message: "unresolved value: x" },
    ]);
  });

  it("of another file, or without a place, is of no line", () => {
    expect(readDiagnostics("krn_1/known.wgsl:1:1: wrong", "own.wgsl")).toEqual([]);
    expect(readDiagnostics("c[3] is 2.5 and should be 2", "own.wgsl")).toEqual([]);
    expect(readDiagnostics("", "own.wgsl")).toEqual([]);
  });
});
