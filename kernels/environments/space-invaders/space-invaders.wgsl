// MinAtar's SpaceInvaders (Young and Tian 2019): a cannon in the bottom row, a swarm of aliens that marches to and fro
// and down, bullets both ways. A new swarm marches faster.

/// Three rows of ten bits in a word: a cell is bit 10 · (row % 3) + column of word row / 3.
alias Board = vec4u;

struct Game {
  aliens: array<u32, 4>,
  bullets: array<u32, 4>, // of the cannon
  shots: array<u32, 4>, // of the aliens
  cannon: i32,
  alien_step: i32, // 1 or -1
  march_interval: i32,
  march_timer: i32,
  shot_timer: i32,
  cannon_timer: i32,
}

const SWARM = Board(0x0fc3f0fcu, 0xfcu, 0u, 0u);
const MARCH_START = 12;
const MARCH_LEAST = 6;
const CANNON_PAUSE = 5;
const SHOT_PAUSE = 10;
const THREE_ROWS = 0x3fffffffu;
const ONE_ROW = 0x3ffu;

fn to_board(words: array<u32, 4>) -> Board {
  return Board(words[0], words[1], words[2], words[3]);
}

fn to_words(board: Board) -> array<u32, 4> {
  return array<u32, 4>(board.x, board.y, board.z, board.w);
}

fn cell_of(row: u32, column: u32) -> Board {
  let bit = 1u << (10u * (row % 3u) + column);
  return select(Board(0u), Board(bit), vec4u(0u, 1u, 2u, 3u) == vec4u(row / 3u));
}

fn is_any(board: Board) -> bool {
  return any(board != Board(0u));
}

/// One row down; the bottom row is lost.
fn fall(board: Board) -> Board {
  return (((board << vec4u(10u)) & vec4u(THREE_ROWS)) | (Board(0u, board.xyz) >> vec4u(20u))) &
    Board(THREE_ROWS, THREE_ROWS, THREE_ROWS, ONE_ROW);
}

/// One row up; the top row is lost.
fn rise(board: Board) -> Board {
  return (board >> vec4u(10u)) | ((Board(board.yzw, 0u) & vec4u(ONE_ROW)) << vec4u(20u));
}

/// A bit for each column with something in it.
fn columns_of(board: Board) -> u32 {
  let rows = board.x | board.y | board.z | board.w;
  return (rows | (rows >> 10u) | (rows >> 20u)) & ONE_ROW;
}

fn count_cells(board: Board) -> u32 {
  let counts = countOneBits(board);
  return counts.x + counts.y + counts.z + counts.w;
}

/// The lowest alien of the column nearest to the cannon, the left one of two.
fn nearest_alien(aliens: Board, cannon: u32) -> Board {
  let columns = columns_of(aliens);
  var column = cannon;
  for (var distance = 0u; distance < 10u; distance++) {
    if (cannon >= distance && ((columns >> (cannon - distance)) & 1u) == 1u) {
      column = cannon - distance;
      break;
    }
    if (((columns >> (cannon + distance)) & 1u) == 1u) {
      column = cannon + distance;
      break;
    }
  }
  for (var row = 9u; row > 0u; row--) {
    if (is_any(aliens & cell_of(row, column))) {
      return cell_of(row, column);
    }
  }
  return cell_of(0u, column);
}

fn start_game(random: ptr<function, Random>) -> Game {
  let none = array<u32, 4>(0u, 0u, 0u, 0u);
  return Game(to_words(SWARM), none, none, 5, -1, MARCH_START, MARCH_START, SHOT_PAUSE, 0);
}

fn show_board(observation: ptr<function, Observation>, words: array<u32, 4>, channel: u32) {
  let board = to_board(words);
  for (var word = 0u; word < 4u; word++) {
    for (var bits = board[word]; bits != 0u; bits &= bits - 1u) {
      // Cells of a word stand one after the other.
      show_cell(observation, i32(3u * word), i32(firstTrailingBit(bits)), channel);
    }
  }
}

fn show_game(game: Game) -> Observation {
  var observation: Observation;
  show_cell(&observation, 9, game.cannon, 0u);
  show_board(&observation, game.aliens, 1u);
  show_board(&observation, game.aliens, select(3u, 2u, game.alien_step < 0));
  show_board(&observation, game.bullets, 4u);
  show_board(&observation, game.shots, 5u);
  return observation;
}

/// The swarm goes a step, or down and back from an edge. True where it has reached the ground.
fn march(game: ptr<function, Game>) -> bool {
  let aliens = to_board((*game).aliens);
  let columns = columns_of(aliens);
  (*game).march_timer = min(i32(count_cells(aliens)), (*game).march_interval);
  let rightward = (*game).alien_step > 0;
  if ((columns & select(1u, 0x200u, rightward)) == 0u) {
    (*game).alien_step = select(-1, 1, rightward);
    (*game).aliens = to_words(select(aliens >> vec4u(1u), aliens << vec4u(1u), rightward));
    return false;
  }
  (*game).alien_step = select(1, -1, rightward);
  // What is on the ground comes back at the top, in a frame that is the last.
  (*game).aliens = to_words(fall(aliens) | Board(aliens.w, 0u, 0u, 0u));
  return aliens.w != 0u;
}

fn play_game(game: ptr<function, Game>, action: Action, random: ptr<function, Random>) -> Transition {
  var bullets = to_board((*game).bullets);
  if (action == FIRE && (*game).cannon_timer == 0) {
    bullets |= cell_of(9u, u32((*game).cannon));
    (*game).cannon_timer = CANNON_PAUSE;
  }
  (*game).cannon = move_within((*game).cannon, action == LEFT, action == RIGHT, 0, 9);
  let cannon = u32((*game).cannon);
  let ground = cell_of(9u, cannon);
  bullets = rise(bullets);
  var shots = fall(to_board((*game).shots));
  var lost = is_any((shots | to_board((*game).aliens)) & ground);
  if ((*game).march_timer == 0) {
    let landed = march(game);
    lost = lost || landed || is_any(to_board((*game).aliens) & ground);
  }
  var aliens = to_board((*game).aliens);
  if ((*game).shot_timer == 0) {
    (*game).shot_timer = SHOT_PAUSE;
    shots |= nearest_alien(aliens, cannon);
  }
  let killed = aliens & bullets;
  aliens &= ~killed;
  bullets &= ~killed;
  (*game).cannon_timer = max((*game).cannon_timer - 1, 0);
  (*game).march_timer -= 1;
  (*game).shot_timer -= 1;
  if (!is_any(aliens)) {
    (*game).march_interval = max((*game).march_interval - 1, MARCH_LEAST);
    aliens = SWARM;
  }
  (*game).aliens = to_words(aliens);
  (*game).bullets = to_words(bullets);
  (*game).shots = to_words(shots);
  return Transition(f32(count_cells(killed)), lost);
}
