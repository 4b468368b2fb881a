import { describe, expect, it } from "vitest";
import { decompose, type SingularValues } from "../../../../src/gpu-runner/compression/singular-value-decomposition.ts";
import { fc } from "../../property.ts";

const matrices = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })).chain(([rows, columns]) =>
  fc.record({
    rows: fc.constant(rows),
    columns: fc.constant(columns),
    values: fc.array(fc.double({ min: -10, max: 10, noNaN: true }), {
      minLength: rows * columns,
      maxLength: rows * columns,
    }),
  }),
);

function dot(one: Float64Array, other: Float64Array): number {
  return one.reduce((sum, value, index) => sum + value * other[index]!, 0);
}

function rebuild({ left, values, right }: SingularValues, row: number, column: number): number {
  return values.reduce((sum, value, index) => sum + left[index]![row]! * value * right[index]![column]!, 0);
}

describe("decompose", () => {
  it("gives the singular values of a matrix that is known", () => {
    // AᵀA of [[3, 0], [4, 5]] has the eigenvalues 45 and 5.
    const { values } = decompose([3, 0, 4, 5], 2, 2);
    expect(values[0]).toBeCloseTo(Math.sqrt(45), 14);
    expect(values[1]).toBeCloseTo(Math.sqrt(5), 14);
  });

  it("takes apart what can be put together again", () => {
    fc.assert(
      fc.property(matrices, ({ rows, columns, values }) => {
        const parts = decompose(values, rows, columns);
        for (let row = 0; row < rows; row++) {
          for (let column = 0; column < columns; column++)
            expect(Math.abs(rebuild(parts, row, column) - values[row * columns + column]!)).toBeLessThan(1e-12);
        }
      }),
    );
  });

  it("has orthonormal vectors and falling values", () => {
    fc.assert(
      fc.property(matrices, ({ rows, columns, values }) => {
        const { left, values: singular, right } = decompose(values, rows, columns);
        const there = singular.filter((value) => value > 1e-9);
        expect(singular).toEqual(singular.toSorted((one, other) => other - one));
        for (const vectors of [left.slice(0, there.length), right.slice(0, there.length)]) {
          for (const [index, vector] of vectors.entries()) {
            for (const [other, another] of vectors.entries())
              expect(Math.abs(dot(vector, another) - (index === other ? 1 : 0))).toBeLessThan(1e-6);
          }
        }
      }),
    );
  });

  it("reports the error of the matrix of lower rank", () => {
    fc.assert(
      fc.property(matrices, fc.nat(8), ({ rows, columns, values }, rank) => {
        const { left, values: singular, right } = decompose(values, rows, columns);
        const kept = { left, right, values: singular.map((value, index) => (index < rank ? value : 0)) };
        let squares = 0;
        for (let row = 0; row < rows; row++) {
          for (let column = 0; column < columns; column++)
            squares += (rebuild(kept, row, column) - values[row * columns + column]!) ** 2;
        }
        const dropped = Math.sqrt(singular.slice(rank).reduce((sum, value) => sum + value ** 2, 0));
        expect(Math.sqrt(squares)).toBeCloseTo(dropped, 10);
      }),
    );
  });

  it("takes a matrix of zeros and one of rank 1", () => {
    expect([...decompose(new Float64Array(6), 3, 2).values]).toEqual([0, 0]);
    const { values } = decompose([1, 2, 2, 4, 3, 6], 3, 2);
    expect(values[0]).toBeCloseTo(Math.sqrt(70), 13);
    expect(values[1]).toBeCloseTo(0, 13);
  });
});
