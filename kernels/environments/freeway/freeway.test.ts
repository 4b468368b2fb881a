import { describe } from "vitest";
import { testGame } from "../../../test/kernels/test-game.ts";
import { environmentNamed } from "../registry.ts";
import recorded from "./freeway.vectors.json" with { type: "json" };

describe("freeway", () => {
  testGame(environmentNamed("freeway"), recorded, 3);
});
