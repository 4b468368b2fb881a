/** The release that edge and runner report. */
export const VERSION = "0.1.0";
