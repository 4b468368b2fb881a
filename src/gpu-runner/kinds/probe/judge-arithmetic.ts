/** Operands in groups of four: x, y, z and one unused. */
export type FloatOperands = Float32Array<ArrayBuffer>;

/**
 * The first wrong result of `integers.wgsl`; null where all are right.
 * Source: WGSL, 8.7 "Arithmetic Expressions".
 */
export function integersWrong(pairs: Uint32Array, found: Uint32Array): string | null {
  for (let index = 0; index < pairs.length / 2; index++) {
    const [a, b] = [pairs[2 * index]!, pairs[2 * index + 1]!];
    const [signedA, signedB] = [a | 0, b | 0];
    const overflows = b === 0 || (a === 0x8000_0000 && signedB === -1);
    const expected = {
      "a + b": a + b,
      "a - b": a - b,
      "a * b": Math.imul(a, b),
      "a / b": b === 0 ? a : a / b,
      "a / b, signed": overflows ? a : Math.trunc(signedA / signedB),
      "a >> b, signed": signedA >> (b & 31),
      "countOneBits(a) ^ reverseBits(b)": countOneBits(a) ^ reverseBits(b),
      "a < b, signed": Number(signedA < signedB),
    };
    for (const [place, [expression, value]] of Object.entries(expected).entries()) {
      const right = value >>> 0;
      const is = found[8 * index + place];
      if (is !== right) return `${expression} is ${is} for a = ${a}, b = ${b}, and should be ${right}`;
    }
  }
  return null;
}

/**
 * Allowed distance of a result from the exact one, in units in the last place; `beside` is a part that may be rounded
 * by itself.
 */
interface Expectation {
  readonly exact: number;
  readonly ulps: number;
  readonly beside?: number;
}

/**
 * The first result of `floats.wgsl` that is further from the f64 answer than WGSL allows.
 * Sums and products are rounded once, either way; a quotient is within 2.5 units in the last place.
 * A root is as good as 1 / inverseSqrt, and fma as good as its product and sum by themselves.
 * Source: WGSL, 15.7.4 "Floating Point Accuracy".
 */
export function floatsWrong(given: FloatOperands, found: Float32Array): string | null {
  return firstWrong(given, found, 2 ** -23, (x, y, z) => ({
    "x + y": { exact: x + y, ulps: 1 },
    "x - y": { exact: x - y, ulps: 1 },
    "x * y": { exact: x * y, ulps: 1 },
    "x / y": { exact: x / y, ulps: 2.5 },
    "fma(x, y, z)": { exact: x * y + z, ulps: 1, beside: x * y },
    "sqrt(abs(x))": { exact: Math.sqrt(Math.abs(x)), ulps: 5 },
  }));
}

/** The same for `halves.wgsl`; a result that is no half was not computed in halves. */
export function halvesWrong(given: FloatOperands, found: Float32Array): string | null {
  const finer = found.find((value) => Math.f16round(value) !== value);
  if (finer !== undefined) return `${finer} is no half`;
  return firstWrong(given, found, 2 ** -10, (x, y, z) => ({
    "x + y": { exact: x + y, ulps: 1 },
    "x - y": { exact: x - y, ulps: 1 },
    "x * y": { exact: x * y, ulps: 1 },
    "fma(x, y, z)": { exact: x * y + z, ulps: 1, beside: x * y },
  }));
}

function firstWrong(
  given: FloatOperands,
  found: Float32Array,
  epsilon: number,
  expect: (x: number, y: number, z: number) => Readonly<Record<string, Expectation>>,
): string | null {
  for (let index = 0; index < given.length / 4; index++) {
    const [x = 0, y = 0, z = 0] = given.subarray(4 * index, 4 * index + 3);
    const expected = Object.entries(expect(x, y, z));
    for (const [place, [expression, { exact, ulps, beside = 0 }]] of expected.entries()) {
      const is = found[expected.length * index + place] ?? Number.NaN;
      const allowed = ulps * ulpOf(exact, epsilon) + ulpOf(beside, epsilon);
      if (!(Math.abs(is - exact) <= allowed)) {
        return `${expression} is ${is} for x = ${x}, y = ${y}, z = ${z}, and should be ${exact}`;
      }
    }
  }
  return null;
}

/** Distance of neighbouring values at a value, for a type with this epsilon. */
function ulpOf(value: number, epsilon: number): number {
  return value === 0 ? 0 : 2 ** Math.floor(Math.log2(Math.abs(value))) * epsilon;
}

/** Whether `atomics.wgsl` counted each invocation in every way. */
export function atomicsFound(found: Uint32Array, invocations: number): { found: string; ok: boolean } {
  let mixed = 0;
  for (let at = 0; at < invocations; at++) mixed ^= Math.imul(at, 2_654_435_761);
  const sum = (invocations * (invocations - 1)) / 2;
  const expected = [invocations, invocations - 1, mixed >>> 0, sum];
  const ok = expected.every((value, index) => found[index] === value);
  return { found: ok ? `${invocations} invocations are counted` : `${found[0]} of ${invocations} are counted`, ok };
}

/** Whether the lanes of `subgroups.wgsl` agree on subgroups of one power of two and on the sums within them. */
export function subgroupsFound(found: Uint32Array): { found: string; ok: boolean } {
  const lanes = Array.from({ length: found.length / 4 }, (_, lane) => {
    const [size = 0, first = 0, sum = 0, largest = 0] = found.subarray(4 * lane, 4 * lane + 4);
    return { lane, size, first, sum, largest };
  });
  for (const members of Map.groupBy(lanes, ({ first }) => first).values()) {
    const values = members.map(({ lane }) => lane * lane + 1);
    const total = values.reduce((sum, value) => sum + value, 0);
    const largest = Math.max(...values);
    const wrong = members.find((lane) => lane.sum !== total || lane.largest !== largest);
    if (wrong !== undefined) return { found: `lane ${wrong.lane} sums ${wrong.sum}, and should ${total}`, ok: false };
    const { size } = members[0]!;
    if (members.length > size) return { found: `${members.length} lanes share a subgroup of ${size}`, ok: false };
  }
  const sizes = [...new Set(lanes.map(({ size }) => size))];
  const ok = sizes.length === 1 && Number.isInteger(Math.log2(sizes[0]!));
  return { found: `subgroups of ${sizes.join(" and ")} lanes`, ok };
}

function countOneBits(value: number): number {
  return value.toString(2).replaceAll("0", "").length;
}

function reverseBits(value: number): number {
  return Number.parseInt(value.toString(2).padStart(32, "0").split("").toReversed().join(""), 2);
}
