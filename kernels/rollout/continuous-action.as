// The outputs are the action, spread over its bounds where the last layer is bounded: y = base + spread · output; a
// vector of floats for each component.

let actionBase: f32 = 0;
let actionSpread: f32 = 1;

const ACTION_NUMBERS: i32 = OUTPUTS;

function chooseAction(outputs: usize, action: usize): void {
  for (let at: usize = 0; at < <usize>OUTPUTS * VECTOR; at += VECTOR) {
    const spread = f32x4.mul(f32x4.splat(actionSpread), v128.load(outputs + at));
    v128.store(action + at, f32x4.add(f32x4.splat(actionBase), spread));
  }
}

/** An action as a replay has it. */
function readAction(number: f32): u32 {
  return reinterpret<u32>(number);
}

/** How outputs become actions. */
export function spreadActions(base: f32, spread: f32): void {
  actionBase = base;
  actionSpread = spread;
}
