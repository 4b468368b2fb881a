import type { Progress } from "./first-run.ts";

const BAR_WIDTH = 24;

/** Progress on stderr: a line a step, and on a terminal a bar within it. */
export function showProgress(stream: NodeJS.WriteStream): Progress {
  let text = "";
  return {
    step(next) {
      if (text !== "" && stream.isTTY) stream.write("\n");
      text = next;
      stream.write(stream.isTTY ? `\r\x1b[2K${text} …` : `${text} …\n`);
    },
    update(done, total) {
      if (!stream.isTTY || total === 0) return;
      const filled = Math.round((BAR_WIDTH * done) / total);
      stream.write(`\r\x1b[2K${text} [${"#".repeat(filled)}${"·".repeat(BAR_WIDTH - filled)}] ${done}/${total}`);
    },
  };
}
