// The product of two activations, walked through by their strides: matrices (d0 to d2), rows (d3), columns (d4) and the
// inner axis (d5). Four rows and four columns are computed together. The second operand begins at `weights`; columns of
// the output lie together.

// Where a matrix begins in the operands and in the output.
struct Corner { a: i32, b: i32, out: i32 }

fn find_corner(op: Op, matrix: i32) -> Corner {
  let at2 = matrix % op.d2;
  let at1 = matrix / op.d2 % op.d1;
  let at0 = matrix / op.d2 / op.d1;
  return Corner(
    at0 * op.a0 + at1 * op.a1 + at2 * op.a2,
    at0 * op.b0 + at1 * op.b1 + at2 * op.b2,
    at0 * op.o0 + at1 * op.o1 + at2 * op.o2,
  );
}

fn product(op: Op, place: Place, item: i32) {
  let across = (op.d4 + 3) / 4;
  let down = (op.d3 + 3) / 4;
  let column = item % across * 4;
  let row = item / across % down * 4;
  let corner = find_corner(op, item / across / down);
  let four = vec4<i32>(0, 1, 2, 3);
  let depth = op.d5;
  let along_a = op.a5;
  let along_b = op.b5;
  var a = min(row + four, vec4<i32>(op.d3 - 1)) * op.a3;
  var b = min(column + four, vec4<i32>(op.d4 - 1)) * op.b4;
  a += place.base + op.input + corner.a;
  b += place.base + op.weights + corner.b;
  var s0 = vec4<f32>(); var s1 = vec4<f32>(); var s2 = vec4<f32>(); var s3 = vec4<f32>();
  for (var i = 0; i < depth; i++) {
    let right = vec4<f32>(arena[b.x], arena[b.y], arena[b.z], arena[b.w]);
    s0 += arena[a.x] * right;
    s1 += arena[a.y] * right;
    s2 += arena[a.z] * right;
    s3 += arena[a.w] * right;
    a += along_a;
    b += along_b;
  }
  for (var at = row; at < min(row + 4, op.d3); at++) {
    put4(op, place.base, corner.out + at * op.o3, column + four, op.d4, s0);
    s0 = s1; s1 = s2; s2 = s3;
  }
}
