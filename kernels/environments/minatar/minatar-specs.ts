import { FRAME_PIXELS } from "../../../src/protocol/fleet/rollout-environment.ts";
import { type EnvironmentReference, type EnvironmentSpec, FRAME_WORDS, type StateField } from "../environment-spec.ts";
import { makeSticky } from "./game.reference.ts";
import { makeRendered } from "./rendered.reference.ts";

/**
 * One game of MinAtar.
 * Young and Tian 2019, `kenjyoung/MinAtar` 1.0.15.
 */
export interface MinatarGame {
  readonly name: string;
  readonly description: string;
  readonly folder: URL;
  readonly file: string;
  /** Its AssemblyScript, where there is any. */
  readonly assembly?: string;
  /** Bits of a cell. */
  readonly channels: number;
  /** Words of the WGSL struct `Game`. */
  readonly state: readonly StateField[];
  readonly reference: EnvironmentReference;
  /** A return that normalises to 1. */
  readonly best: number;
}

const FOLDER = new URL(".", import.meta.url);
const ASSEMBLY = [new URL("sticky-game.as", FOLDER)];
const STICKY = 0.1;
/** MinAtar has no limit. */
const STEP_LIMIT = 5_000;

/** The environments of a game: as MinAtar has it, with sticky actions; `-plain` without them; `-rendered` by its pictures. */
export function specifyGame(game: MinatarGame): EnvironmentSpec[] {
  return [
    specify(game, game.name, "", STICKY),
    specify(game, `${game.name}-plain`, ", without sticky actions", 0),
    render(game),
  ];
}

function specify(game: MinatarGame, name: string, remark: string, sticky: number): EnvironmentSpec {
  const { description, folder, file, assembly, channels, state, reference, best } = game;
  return {
    name,
    description: `${description} (MinAtar${remark})`,
    folder,
    file,
    ...(assembly !== undefined && { assembly: { file: assembly, shared: ASSEMBLY, lanes: 1 } as const }),
    shared: [new URL("game.wgsl", FOLDER), new URL("sticky-game.wgsl", FOLDER)],
    observationSize: 100 * channels,
    observationForm: "bits",
    action: { kind: "discrete", count: 6 },
    stepLimit: STEP_LIMIT,
    measures: 0,
    scores: { worst: 0, best, solvedAt: null },
    state: [...state, { name: "lastAction", type: "u32", count: 1 }],
    constants: { CHANNELS: channels, STICKY: sticky },
    reference: makeSticky(reference, sticky),
  };
}

function render(game: MinatarGame): EnvironmentSpec {
  const sticky = specify(game, `${game.name}-rendered`, ", by its last four frames of 84×84", STICKY);
  return {
    ...sticky,
    shared: [new URL("game.wgsl", FOLDER), new URL("rendered-game.wgsl", FOLDER)],
    observationSize: FRAME_PIXELS,
    observationForm: "frames",
    frames: true,
    state: [...sticky.state, { name: "frames", type: "u32", count: FRAME_WORDS }],
    reference: makeRendered(game.reference, game.channels, STICKY),
  };
}
