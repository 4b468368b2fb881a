import { expect, test } from "vitest";
import { parsePids, parseProcessTimes, parseStatusBytes } from "../../../../src/gpu-runner/host/process-meter.ts";

/** Output of Linux 6.1 for a device's process; the name is worse than any real one. */
const STAT =
  "4711 (node) R (x) y) S 4700 4711 4700 34816 4711 4194304 91234 12 3 0 1234 56 78 9 20 0 11 0 5872693 " +
  "1234567890 23456 18446744073709551615 94481961017344 94481961037225 140728457730768 0 0 0 0 4096 134234626 " +
  "0 0 0 17 1 0 0 0 0 0 94481961053232 94481961054848 94482947452928 140728457738933 140728457738953 " +
  "140728457738953 140728457740267 0\n";

const STATUS = `Name:\tnode
Umask:\t0022
State:\tS (sleeping)
VmPeak:\t 1205632 kB
VmSize:\t 1205632 kB
VmRSS:\t   93824 kB
RssAnon:\t   43008 kB
Threads:\t11
`;

test("a process's times are hundredths of a second, whatever its name holds", () => {
  expect(parseProcessTimes(STAT)).toEqual({ cpuMs: 12_900, endedChildrenMs: 870 });
});

test.each(["", "4711 (node)", "4711 (node) S 1 2 3", "nonsense"])("%j gives no times", (text) => {
  expect(parseProcessTimes(text)).toBeNull();
});

test("resident memory is read in kilobytes; a process that has ended has none", () => {
  expect(parseStatusBytes(STATUS, "VmRSS")).toBe(93_824 * 1_024);
  expect(parseStatusBytes("Name:\tnode\nState:\tZ (zombie)\n", "VmRSS")).toBeNull();
  expect(parseStatusBytes("", "VmRSS")).toBeNull();
});

test("children are read by their ids", () => {
  expect(parsePids("4712 4713 4720 ")).toEqual([4712, 4713, 4720]);
  expect(parsePids("")).toEqual([]);
});
