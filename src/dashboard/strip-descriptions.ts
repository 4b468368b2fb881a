import type { Plugin } from "vite";
import { cutDescriptions } from "./cut-descriptions.ts";

/**
 * Leaves out of the protocol what only the API's document needs: the pages validate and call, and show that document
 * as the edge has it.
 */
export function stripDescriptions(): Plugin {
  return {
    name: "strip-descriptions",
    apply: "build",
    transform(code, id) {
      if (!id.includes("/src/protocol/")) return null;
      return { code: cutDescriptions(code, this.parse(code)), map: null };
    },
  };
}
