import { hrrBind } from "../kernels/hrr-bind/hrr-bind.kernel.ts";
import type { Bench } from "./benches.ts";
import { checkAgainstReference } from "./check-against-reference.ts";
import { runContest } from "./contest.ts";
import type { HrrCase } from "./hrr/hrr-case.ts";
import { installPeers } from "./install-peers.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";

/**
 * Binding of pairs of vectors in f32: `256x64` are 64 pairs of 256 values in one call. A call starts and ends with its
 * data in the caller's memory: ours uploads and reads back, the assembly copies into and out of its memory. Compiling,
 * choosing and tables of roots are not timed.
 */
const CASES: readonly HrrCase[] = [256, 1024, 8192].flatMap((dimension) =>
  [1, 64, 1024].map((pairs) => ({ dimension, pairs })),
);

/** Our kernel on the adapter, at the variant that is fastest there, against the processor without a GPU: one thread each. */
export const benchHrr: Bench = async function* benchHrr(context) {
  await installPeers(context.say);
  const { device, environment } = await openAdapter();
  const contender = (module: URL) => inProcess<HrrCase>(module, environment);
  yield* runContest<HrrCase>(
    {
      metrics: { bind: { unit: "binds/s", better: "higher" } },
      cases: CASES.map((input) => ({ name: `${input.dimension}x${input.pairs}`, input })),
      device,
      ours: contender(new URL("./hrr/ours.ts", import.meta.url)),
      peers: {
        fftjs: contender(new URL("./hrr/fftjs.ts", import.meta.url)),
        "typed-arrays": contender(new URL("./hrr/typed-arrays.ts", import.meta.url)),
        assemblyscript: contender(new URL("./hrr/assemblyscript.ts", import.meta.url)),
      },
      check: (shape, output) => checkAgainstReference({ kernel: hrrBind.name, shape: { ...shape } }, output),
    },
    context,
  );
};
