// Expands templates: one invocation a pair of tree and rule, which copies the template and, for each variable, the
// subtree that the variable stands for. Trees and templates are in preorder, so that a copy is a walk.

struct Shape { trees: u32, nodes: u32, rules: u32, templateNodes: u32, variables: u32, room: u32 }
struct Node { kind: i32, value: i32, children: i32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> tree: array<Node>;
@group(0) @binding(2) var<storage, read> templates: array<Node>;
@group(0) @binding(3) var<storage, read> position: array<i32>;
@group(0) @binding(4) var<storage, read> bound: array<i32>;
@group(0) @binding(5) var<storage, read_write> expanded: array<Node>;
@group(0) @binding(6) var<storage, read_write> length: array<i32>;

override lanes: u32 = 16;

const VARIABLE = -1;

// Behind the subtree that begins at `start`.
fn findEnd(start: u32) -> u32 {
  var end = start;
  for (var open = 1i; open > 0; end++) {
    open += tree[end].children - 1;
  }
  return end;
}

// Nodes that the expansion wants; 0 where one of its variables stands for nothing.
fn countNodes(root: u32, firstOfTemplate: u32, firstOfBound: u32) -> u32 {
  var count = 0u;
  var open = 1i;
  for (var i = firstOfTemplate; open > 0; i++) {
    let node = templates[i];
    open += node.children - 1;
    if (node.kind == VARIABLE) {
      let start = bound[firstOfBound + u32(node.value)];
      if (start < 0) {
        return 0u;
      }
      count += findEnd(root + u32(start)) - root - u32(start);
    } else {
      count++;
    }
  }
  return count;
}

fn expand(root: u32, firstOfTemplate: u32, firstOfBound: u32, firstOfExpanded: u32) {
  var sink = firstOfExpanded;
  var open = 1i;
  for (var i = firstOfTemplate; open > 0; i++) {
    let node = templates[i];
    open += node.children - 1;
    if (node.kind == VARIABLE) {
      let start = root + u32(bound[firstOfBound + u32(node.value)]);
      let end = findEnd(start);
      for (var source = start; source < end; source++) {
        expanded[sink] = tree[source];
        sink++;
      }
    } else {
      expanded[sink] = node;
      sink++;
    }
  }
}

@compute @workgroup_size(lanes)
fn main(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  for (var pair = at.x; pair < shape.trees * shape.rules; pair += groups.x * lanes) {
    let root = pair / shape.rules * shape.nodes;
    let firstOfTemplate = pair % shape.rules * shape.templateNodes;
    let firstOfBound = pair * shape.variables;
    let firstOfExpanded = pair * shape.room;
    var count = 0u;
    if (position[pair] >= 0) {
      count = countNodes(root, firstOfTemplate, firstOfBound);
    }
    let isTooLarge = count > shape.room;
    length[pair] = select(i32(count), -1, isTooLarge);
    let written = select(count, 0u, isTooLarge);
    if (written > 0u) {
      expand(root, firstOfTemplate, firstOfBound, firstOfExpanded);
    }
    for (var i = written; i < shape.room; i++) {
      expanded[firstOfExpanded + i] = Node();
    }
  }
}
