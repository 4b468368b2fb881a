import type { RunnerConfig } from "../config.ts";
import { isSoftwareAdapter, toDeviceName } from "../host/hardware/device-names.ts";
import { cardsNamed, describeBoard, toPciAddress } from "../host/sensors/gpu-board.ts";
import { type Card, readCards } from "../host/sensors/read-sensors.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { DeviceHost, type DeviceHostOptions } from "./device-host.ts";

type Shared = Omit<DeviceHostOptions, "role" | "deviceKey" | "driver" | "adapter" | "view">;
type Wanted = Pick<DeviceHostOptions, "driver" | "adapter" | "view">;

/**
 * A GPU's process starts in about a second. SwiftShader's held 294 to 663 MB after the first run of `npm start`, most
 * of it compiled programs (two cores of an AMD EPYC, 2026-11-27).
 */
const REST_AFTER_MS = 60_000;

const REMEDY =
  "let the runner make user namespaces (util-linux's unshare --user --mount), or start a runner for each card in a " +
  "container that has only that card";
const UNTOLD = `equal GPUs cannot be told apart here: only the first is used. To use all, ${REMEDY}`;
const NOT_ALONE = `a card cannot be shown alone to a process, and is left out. To use it, ${REMEDY}`;

/**
 * Starts a process for every GPU, with the keys `gpu0`, `gpu1` and so on. With `auto` these are the adapters of the
 * machine's own drivers, the best one first, or the software GPU where there is none.
 * Otherwise the list names them: `software`, a card's PCI address or UUID, or part of an adapter's name.
 * Those that cannot be opened are left out. The bindings open the first adapter whose name contains a text, so each of
 * several equal cards gets a process that is shown that card alone.
 */
export async function startGpus(
  gpu: RunnerConfig["gpu"],
  shared: Shared,
  findCards: () => Promise<readonly Card[]> = readCards,
): Promise<DeviceHost[]> {
  if (gpu === "auto") return startAll(shared, findCards);
  const cards = gpu.some(isCardId) ? await findCards() : [];
  const hosts = gpu.map(async (entry, index) => {
    if (entry === "software") return startGpu(index, { driver: "software" }, shared);
    if (!isCardId(entry)) return startGpu(index, { driver: "own", adapter: entry }, shared);
    const card = cards.find(({ uuid, pciAddress }) => uuid === entry || pciAddress === toPciAddress(entry));
    if (card !== undefined) return startListed(index, card, cards, shared);
    shared.logger.warn({ entry, cards: cards.map(nameCard) }, "no card of this machine has this address or UUID");
    return null;
  });
  return (await Promise.all(hosts)).filter((host) => host !== null);
}

function isCardId(entry: string): boolean {
  return toPciAddress(entry) !== null || entry.startsWith("GPU-");
}

function nameCard({ pciAddress, uuid, name }: Card): string {
  return [pciAddress, uuid, name].filter(Boolean).join(" ");
}

async function startAll(shared: Shared, findCards: () => Promise<readonly Card[]>): Promise<DeviceHost[]> {
  const first = await startGpu(0, { driver: "auto" }, shared);
  if (first === null || first.device.software) return first === null ? [] : [first];
  const listed = first.adapters.filter((name) => !isSoftwareAdapter(name));
  const isFirst = (name: string) => toDeviceName(name) === first.device.name;
  const names = [...new Set([...listed.filter(isFirst), ...listed])];
  const cards = names.length < listed.length ? await findCards() : [];
  const starts: Promise<DeviceHost[]>[] = [];
  let next = 0;
  for (const adapter of names) {
    const left = LIMITS.devices - 2 - next;
    if (left <= 0) break;
    const seen = listed.filter((name) => name === adapter).length;
    const own = seen === 1 ? [] : cardsNamed(adapter, cards).slice(0, left);
    const alone = own.map((card, index) => startCard(next + index, card, cards, shared, adapter));
    const together = isFirst(adapter) ? async () => first : startNamed.bind(null, next, adapter, shared);
    starts.push(startEqual({ adapter, seen }, alone, together, shared));
    next += Math.max(1, own.length);
  }
  const hosts = (await Promise.all(starts)).flat();
  if (!hosts.includes(first)) await first.stop();
  return hosts;
}

/** Processes of adapters with one name: those that see their card alone, else the first of them by its name. */
async function startEqual(
  { adapter, seen }: { readonly adapter: string; readonly seen: number },
  alone: readonly Promise<DeviceHost | null>[],
  together: () => Promise<DeviceHost | null>,
  { logger }: Shared,
): Promise<DeviceHost[]> {
  const hosts = (await Promise.all(alone)).filter((host) => host !== null);
  if (hosts.length < seen && seen > 1) logger.warn({ adapter, seen, used: Math.max(1, hosts.length) }, UNTOLD);
  if (hosts.length > 0) return hosts;
  const host = await together();
  return host === null ? [] : [host];
}

/** Starts the first adapter of a name; null where its name is a part of the name of one that is listed before. */
async function startNamed(index: number, adapter: string, shared: Shared): Promise<DeviceHost | null> {
  const host = await startGpu(index, { driver: "own", adapter }, shared);
  if (host === null || host.device.name === toDeviceName(adapter)) return host;
  shared.logger.warn({ adapter, opened: host.device.name }, "an adapter cannot be told from another one");
  await host.stop();
  return null;
}

/** Starts a card of the list: by its name where no other card has that name, else shown alone. */
async function startListed(
  index: number,
  card: Card,
  cards: readonly Card[],
  shared: Shared,
): Promise<DeviceHost | null> {
  const isUnique = card.name !== null && cards.every(({ name }, place) => name !== card.name || cards[place] === card);
  const named = isUnique ? await startNamed(index, card.name, shared) : null;
  const host = named ?? (await startCard(index, card, cards, shared));
  if (host === null) shared.logger.warn({ card: nameCard(card) }, NOT_ALONE);
  return host;
}

/** Starts a process that is shown this card alone; null where it sees none, another adapter or several. */
async function startCard(
  index: number,
  card: Card,
  cards: readonly Card[],
  shared: Shared,
  adapter?: string,
): Promise<DeviceHost | null> {
  const hidden = cards.filter((other) => other !== card).flatMap(({ nodes }) => nodes);
  const view = { board: describeBoard({ ...card, matchedBy: "address" }), hidden };
  const host = await startGpu(index, { driver: "own", view, ...(adapter !== undefined && { adapter }) }, shared);
  if (host === null) return null;
  // A driver of software is beside every card.
  const seen = host.adapters.filter((name) => !isSoftwareAdapter(name) || name === card.name);
  const wanted = adapter ?? seen[0] ?? "";
  if (seen.length === 1 && host.device.name === toDeviceName(wanted)) return host;
  shared.logger.warn(
    { card: nameCard(card), opened: host.device.name, adapters: host.adapters },
    "a card is not alone",
  );
  await host.stop();
  return null;
}

async function startGpu(index: number, wanted: Wanted, shared: Shared): Promise<DeviceHost | null> {
  try {
    const own = { role: "gpu", deviceKey: `gpu${index}`, restAfterMs: REST_AFTER_MS } as const;
    return await DeviceHost.start({ ...own, ...wanted, ...shared });
  } catch (error) {
    shared.logger.warn({ error, ...wanted }, "a GPU could not be opened");
    return null;
  }
}
