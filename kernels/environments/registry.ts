import { ProblemError } from "../../src/protocol/wire/problem.ts";
import { acrobot } from "./acrobot/acrobot.environment.ts";
import { arm } from "./arm/arm.environment.ts";
import { asterix } from "./asterix/asterix.environment.ts";
import { breakout } from "./breakout/breakout.environment.ts";
import { cartpole } from "./cartpole/cartpole.environment.ts";
import { cartpoleSwingUp, cartpoleSwingUpHard } from "./cartpole-swing-up/cartpole-swing-up.environment.ts";
import { cheetah } from "./cheetah/cheetah.environment.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import { freeway } from "./freeway/freeway.environment.ts";
import { hopper } from "./hopper/hopper.environment.ts";
import { invertedDoublePendulum } from "./inverted-double-pendulum/inverted-double-pendulum.environment.ts";
import { invertedPendulum } from "./inverted-pendulum/inverted-pendulum.environment.ts";
import { mountainCarContinuous } from "./mountain-car-continuous/mountain-car-continuous.environment.ts";
import { mountainCar } from "./mountain-car/mountain-car.environment.ts";
import { pendulum } from "./pendulum/pendulum.environment.ts";
import { sinucaPhysical, sinucaViva } from "./sinuca/sinuca.environment.ts";
import { spaceInvaders } from "./space-invaders/space-invaders.environment.ts";
import { sphere } from "./sphere/sphere.environment.ts";
import { xor } from "./xor/xor.environment.ts";

/** Every environment of the house, by name. */
export const ENVIRONMENTS: ReadonlyMap<string, EnvironmentSpec> = new Map(
  [
    acrobot,
    arm,
    ...asterix,
    ...breakout,
    cartpoleSwingUp,
    cartpoleSwingUpHard,
    cartpole,
    cheetah,
    ...freeway,
    hopper,
    invertedDoublePendulum,
    invertedPendulum,
    mountainCarContinuous,
    mountainCar,
    pendulum,
    sinucaPhysical,
    sinucaViva,
    ...spaceInvaders,
    sphere,
    xor,
  ].map((spec: EnvironmentSpec) => [spec.name, spec]),
);

/** One of them. Throws `not-found` where there is none of that name. */
export function environmentNamed(name: string): EnvironmentSpec {
  const environment = ENVIRONMENTS.get(name);
  if (environment === undefined) throw new ProblemError("not-found", `There is no environment '${name}'.`);
  return environment;
}
