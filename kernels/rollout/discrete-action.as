// One of so many things: the index of the largest output, the first of equals; one vector of integers.

const ACTION_NUMBERS: i32 = 1;

function chooseAction(outputs: usize, action: usize): void {
  let chosen = i32x4.splat(0);
  let largest = v128.load(outputs);
  for (let index = 1; index < OUTPUTS; index++) {
    const output = v128.load(outputs + <usize>index * VECTOR);
    const larger = f32x4.gt(output, largest);
    largest = choose(output, largest, larger);
    chosen = choose(i32x4.splat(index), chosen, larger);
  }
  v128.store(action, chosen);
}

/** An action as a replay has it. */
function readAction(number: f32): u32 {
  return <u32>number;
}

/** Nothing is spread. */
export function spreadActions(base: f32, spread: f32): void {}
