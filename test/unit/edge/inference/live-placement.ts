import { DEFAULT_CONFIGURATION } from "../../../../src/protocol/fleet/serving.ts";
import type { LivePlacement } from "../../../../src/edge/store/fleet/live-placement-store.ts";
import { summarise } from "../../../../src/stats/distribution/distribution.ts";

/** A placement whose every request takes a millisecond of service and one of link, as far as was measured. */
export function livePlacement(id: string, changes: Partial<LivePlacement> = {}): LivePlacement {
  return {
    id,
    modelVersionId: "ver_x",
    project: "main",
    runnerId: `rnr_${id}`,
    deviceKey: "cpu",
    software: false,
    variant: "fp32",
    backend: "ort-cpu",
    state: "eligible",
    fidelity: 1,
    sweep: [{ rows: 1, serviceMs: summarise([1]) }],
    sizes: [],
    measuredElements: 1,
    memory: null,
    loadMs: 30,
    linkMs: summarise([1]),
    configuration: DEFAULT_CONFIGURATION,
    validated: null,
    updatedAt: "2026-11-21T00:00:00.000Z",
    fingerprint: { adapter: null, driver: null, dawn: null, toggles: [], ort: null, cpu: "sample" },
    online: true,
    draining: false,
    direct: false,
    labels: {},
    profiles: [],
    connectedAtMs: 0,
    warmAtMs: 0,
    ...changes,
  };
}
