import { describe, expect, it } from "vitest";
import { EventFeed, UNREAD_BYTES } from "../../../../src/edge/http/event-feed.ts";

const event = (data: string) => ({ event: "told", data });
const open = (feed: EventFeed, owner: string, topic = owner) => feed.open({ topic, owner });

async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return read;
    read += value;
    if (read.includes(text)) return read;
  }
}

describe("streams of events", () => {
  it("are limited for each owner, and for all of them", async () => {
    const feed = new EventFeed({ perOwner: 2, all: 3 });
    const first = open(feed, "a");
    expect(first).not.toBeNull();
    expect(open(feed, "a")).not.toBeNull();
    expect(open(feed, "a", "another topic")).toBeNull();
    expect(open(feed, "b")).not.toBeNull();
    expect(open(feed, "c")).toBeNull();
    await first!.body!.cancel();
    expect(open(feed, "c")).not.toBeNull();
    expect(feed.size).toBe(3);
  });

  it("of what is over have a place until they were read", async () => {
    const feed = new EventFeed({ perOwner: 1, all: 1 });
    const pages = [[event("first")], [event("last")]];
    const over = { topic: "job", owner: "a", readBefore: () => pages.shift() ?? [], isOver: () => true };
    const stream = feed.open(over)!;
    expect(feed.open(over)).toBeNull();
    const text = await stream.text();
    expect(text.match(/data: "(first|last)"/g)).toHaveLength(2);
    expect(feed.size).toBe(0);
  });

  it("read what was before as their listener reads it, and then what comes, each once and in order", async () => {
    const feed = new EventFeed({ perOwner: 4, all: 4 });
    const large = "x".repeat(UNREAD_BYTES / 4);
    const told: string[] = [];
    let next = 0;
    const readBefore = () => (next >= told.length ? [] : [event(told[next++]!)]);
    const tell = (name: string) => {
      told.push(`${name} ${large}`);
      feed.publish((topic) => topic === "a", event(told.at(-1)!));
    };
    for (let at = 0; at < 40; at++) tell(`n${at}`);
    const stream = feed.open({ topic: "a", owner: "a", readBefore })!;
    await new Promise((resolve) => setTimeout(resolve));
    // Far from all was read.
    expect(next).toBeLessThan(10);
    const read = readUntil(stream, '"n60 ');
    for (let at = 40; at <= 60; at++) {
      tell(`n${at}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const names = [...(await read).matchAll(/data: "(n\d+) /g)].map(([, name]) => name);
    expect(names).toEqual(Array.from({ length: 61 }, (_, at) => `n${at}`));
  });

  it("end where their listener reads nothing, and go on for the others", async () => {
    const feed = new EventFeed({ perOwner: 4, all: 4 });
    const idle = open(feed, "a")!;
    const eager = open(feed, "a")!;
    const read = readUntil(eager, "the end");
    const large = "x".repeat(UNREAD_BYTES / 4);
    for (let count = 0; count < 8; count++) {
      feed.publish((topic) => topic === "a", event(large));
      await new Promise((resolve) => setTimeout(resolve));
    }
    expect(feed.size).toBe(1);
    feed.publish((topic) => topic === "a", event("the end"));
    expect(await read).toContain("the end");
    await expect(idle.text()).rejects.toThrow("reads too slowly");
  });
});
