// Matches patterns against expression trees: one invocation a pair, from node to node until the pattern fits. Both
// are in preorder, so that a match is a walk along the two with a step over what a variable stands for.

struct Shape { trees: u32, nodes: u32, patterns: u32, patternNodes: u32, variables: u32 }
struct Node { kind: i32, value: i32, children: i32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> tree: array<Node>;
@group(0) @binding(2) var<storage, read> pattern: array<Node>;
@group(0) @binding(3) var<storage, read_write> position: array<i32>;
@group(0) @binding(4) var<storage, read_write> bound: array<i32>;

override lanes: u32 = 16;

const VARIABLE = -1;
const ANY = -1;

// Behind the subtree that begins at `start`.
fn findEnd(start: u32) -> u32 {
  var end = start;
  for (var open = 1i; open > 0; end++) {
    open += tree[end].children - 1;
  }
  return end;
}

fn areEqual(a: u32, b: u32) -> bool {
  var open = 1i;
  for (var i = 0u; open > 0; i++) {
    let left = tree[a + i];
    let right = tree[b + i];
    if (left.kind != right.kind || left.value != right.value || left.children != right.children) {
      return false;
    }
    open += left.children - 1;
  }
  return true;
}

// Whether the pattern fits at a node; notes where what its variables stand for begins, counted from the tree's root.
fn fits(start: u32, root: u32, firstOfPattern: u32, firstOfBound: u32) -> bool {
  for (var variable = 0u; variable < shape.variables; variable++) {
    bound[firstOfBound + variable] = -1;
  }
  var at = start;
  var open = 1i;
  for (var i = firstOfPattern; open > 0; i++) {
    let wanted = pattern[i];
    open += wanted.children - 1;
    if (wanted.kind == VARIABLE) {
      let slot = firstOfBound + u32(wanted.value);
      let known = bound[slot];
      if (known < 0) {
        bound[slot] = i32(at - root);
      } else if (!areEqual(root + u32(known), at)) {
        return false;
      }
      at = findEnd(at);
    } else {
      let node = tree[at];
      let hasValue = wanted.value == ANY || wanted.value == node.value;
      if (node.kind != wanted.kind || !hasValue || node.children != wanted.children) {
        return false;
      }
      at++;
    }
  }
  return true;
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var pair = at.x; pair < shape.trees * shape.patterns; pair += groups.x * lanes) {
    let root = pair / shape.patterns * shape.nodes;
    let firstOfPattern = pair % shape.patterns * shape.patternNodes;
    let firstOfBound = pair * shape.variables;
    let end = findEnd(root);
    var found = -1i;
    for (var start = root; start < end && found < 0; start++) {
      if (fits(start, root, firstOfPattern, firstOfBound)) {
        found = i32(start - root);
      }
    }
    position[pair] = found;
    if (found < 0) {
      for (var variable = 0u; variable < shape.variables; variable++) {
        bound[firstOfBound + variable] = -1;
      }
    }
  }
}
