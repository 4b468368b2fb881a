import { describe } from "vitest";
import { testGame } from "../../../test/kernels/test-game.ts";
import { environmentNamed } from "../registry.ts";
import recorded from "./breakout.vectors.json" with { type: "json" };

describe("breakout", () => {
  testGame(environmentNamed("breakout"), recorded, 24);
});
