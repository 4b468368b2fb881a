import { createHash, randomBytes } from "node:crypto";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { ownReference } from "../../edge/stack/kernel-samples.ts";
import { openPlacement, openRunner } from "../attacker/own-runner.ts";
import { SERVED, writeNetwork } from "../served-network.ts";
import type { Attack } from "./attack.ts";

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

export const STORAGE_ATTACKS: readonly Attack[] = [
  {
    name: "calibrations",
    does: "ever new models, each of which the shared runner measures",
    prepare: (attacker) => () =>
      attacker.flood(4, (count) =>
        attacker.ask("POST", `/v1/models?name=model-${count}`, { body: writeNetwork(SERVED, 10 + count) }),
      ),
  },
  {
    name: "uploads",
    does: "large uploads that begin and never end, with parts of 8 MiB",
    prepare: (attacker) => {
      const part = new Uint8Array(randomBytes(LIMITS.uploadPartBytes));
      const query = `digest=${digestOf(part)}`;
      return () =>
        attacker.flood(16, async () => {
          const digest = digestOf(randomBytes(32));
          const begun = await attacker.ask("POST", "/v1/uploads", {
            body: { digest, sizeBytes: LIMITS.largeModelBytes },
          });
          if (begun.status !== 200) return;
          await attacker.ask("PUT", `/v1/uploads/${digest}/parts/1?${query}`, { body: part });
        });
    },
  },
  {
    name: "agent-pools",
    does: "four clients that replace and read the states of a pool of 64 MiB",
    prepare: async (attacker) => {
      const stateSize = LIMITS.poolStateSize;
      const agents = LIMITS.poolBytes / 4 / stateSize;
      await attacker.make("POST", "/v1/agent-pools", { body: { name: "large", agents, stateSize } });
      const states = new Uint8Array(LIMITS.poolBytes);
      const path = "/v1/agent-pools/large/states";
      return () =>
        attacker.flood(4, (count) =>
          count % 2 === 0
            ? attacker.ask("PUT", path, { body: states, headers: { "if-match": "*" } })
            : attacker.ask("GET", path),
        );
    },
  },
  {
    name: "kernels",
    does: "submitted kernels of 65,536 characters, and lists of them",
    prepare: async (attacker) => {
      await openRunner(attacker);
      const padding = `\n// ${"w".repeat(LIMITS.kernelWgslLength - ownReference.wgsl.length - 20)}`;
      return () =>
        attacker.flood(16, (count) => {
          if (count % 4 === 0) return attacker.ask("GET", "/v1/kernels?limit=200");
          const body = { ...ownReference, name: `kernel-${count}`, wgsl: `${ownReference.wgsl}${padding}` };
          return attacker.ask("POST", "/v1/kernels", { body });
        });
    },
  },
  {
    name: "plots",
    does: "thirty plots at once, as wide as they may be",
    prepare: async (attacker) => {
      const form = { widths: [4, 16, 2], input: "observation", output: "logits" };
      const { model, placementId } = await openPlacement(attacker, writeNetwork(form, 11));
      const look = `theme=auto&width=${LIMITS.maxPlotWidth}`;
      const paths = [`/v1/models/${model}/plots/trade.svg`, `/v1/placements/${placementId}/plots/sweep.svg`];
      return () => attacker.flood(30, (count) => attacker.ask("GET", `${paths[count % 2]!}?${look}`));
    },
  },
];
