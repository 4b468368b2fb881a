import { describe } from "vitest";
import { testGame } from "../../../test/kernels/test-game.ts";
import { environmentNamed } from "../registry.ts";
import recorded from "./space-invaders.vectors.json" with { type: "json" };

describe("space-invaders", () => {
  testGame(environmentNamed("space-invaders"), recorded, 12);
});
