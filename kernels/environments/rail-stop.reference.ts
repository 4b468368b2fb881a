/** The end of a rail as MuJoCo has it: a soft constraint from `margin` before it on. */
export interface RailStop {
  readonly margin: number;
  /** `dof_invweight0`: the resting model's acceleration by a force of 1 N, 1/kg. */
  readonly slack: number;
  /** `solref`'s time constant, which MuJoCo takes as no less than two steps of time. */
  readonly seconds: number;
}

const END = 1;

/** Force on a cart at either end of a rail of ±1 m; the twin of rail-stop.wgsl. */
export function findStopForce(
  { margin, slack, seconds }: RailStop,
  position: number,
  speed: number,
  /** Without the stop, m/s². */
  acceleration: number,
  /** Acceleration by 1 N, 1/kg. */
  mobility: number,
): number {
  const side = position < 0 ? -1 : 1;
  const depth = margin + side * position - END;
  if (depth <= 0) return 0;
  const impedance = findImpedance(depth);
  const stiffness = impedance / (IMPEDANCE.deep * seconds) ** 2;
  const damping = 2 / (IMPEDANCE.deep * seconds);
  const wanted = -stiffness * depth - damping * side * speed;
  const excess = side * acceleration - wanted;
  return (-side * Math.max(excess, 0)) / (mobility + ((1 - impedance) / impedance) * slack);
}

/** MuJoCo's defaults of `solimp`: from 0.9 to 0.95 over a millimetre, by two parabolas. */
const IMPEDANCE = { shallow: 0.9, deep: 0.95, width: 0.001 } as const;

function findImpedance(depth: number): number {
  const share = Math.min(depth / IMPEDANCE.width, 1);
  const way = share < 0.5 ? 2 * share ** 2 : 1 - 2 * (1 - share) ** 2;
  return IMPEDANCE.shallow + way * (IMPEDANCE.deep - IMPEDANCE.shallow);
}
