import { describe, expect, it } from "vitest";
import { addressOf, type Rate, RateLimiter } from "../../../../src/edge/http/rate-limiter.ts";
import { fc } from "../../property.ts";

const RATE: Rate = { perSecond: 10, burst: 5 };

describe("a rate limiter", () => {
  it("lets a burst through, then so many a second, and says when to come again", () => {
    const limiter = new RateLimiter(10);
    const spend = (nowMs: number) => limiter.spend("a", RATE, nowMs);
    expect(Array.from({ length: 5 }, () => spend(1_000).remaining)).toEqual([4, 3, 2, 1, 0]);
    expect(spend(1_000)).toEqual({ isAllowed: false, remaining: 0, resetMs: 500, retryAfterMs: 100 });
    expect(spend(1_099).isAllowed).toBe(false);
    expect(spend(1_100)).toEqual({ isAllowed: true, remaining: 0, resetMs: 500, retryAfterMs: 0 });
    expect(limiter.look("a", RATE, 2_000)).toMatchObject({ isAllowed: true, remaining: 5, resetMs: 0 });
  });

  it("forgets what was spent before the clock was set back", () => {
    const limiter = new RateLimiter(10);
    for (let i = 0; i < 5; i++) limiter.spend("a", RATE, 1_000_000);
    expect(limiter.spend("a", RATE, 0)).toMatchObject({ isAllowed: true, remaining: 4 });
    expect(limiter.spend("a", RATE, 0)).toMatchObject({ isAllowed: true, remaining: 3 });
  });

  it("knows callers apart, and forgets those first that owe nothing", () => {
    const limiter = new RateLimiter(2);
    const slow = { perSecond: 1, burst: 1 };
    limiter.spend("idle", { perSecond: 1_000, burst: 1 }, 0);
    limiter.spend("busy", slow, 0);
    limiter.spend("new", slow, 10);
    expect(limiter.look("busy", slow, 10).isAllowed).toBe(false);
    expect(limiter.look("new", slow, 10).isAllowed).toBe(false);
    limiter.spend("another", slow, 20);
    expect(limiter.look("busy", slow, 20).isAllowed).toBe(true);
  });

  it("never lets through more than a burst and the rate, and admits a caller that waits as asked", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 80 }), (gapsMs) => {
        const limiter = new RateLimiter(10);
        const allowedAtMs: number[] = [];
        let nowMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const verdict = limiter.spend("a", RATE, nowMs);
          if (verdict.isAllowed) allowedAtMs.push(nowMs);
          else expect(limiter.look("a", RATE, nowMs + verdict.retryAfterMs).isAllowed).toBe(true);
        }
        expect(allowedAtMs.length).toBeGreaterThan(0);
        for (const [i, fromMs] of allowedAtMs.entries()) {
          for (const [j, toMs] of allowedAtMs.entries()) {
            const most = RATE.burst + ((toMs - fromMs) * RATE.perSecond) / 1_000 + 1e-6;
            if (j >= i) expect(j - i + 1).toBeLessThanOrEqual(most);
          }
        }
      }),
    );
  });
});

describe("the source of a request", () => {
  const source = (address?: string) =>
    addressOf(new Request("https://x", address === undefined ? {} : { headers: { "cf-connecting-ip": address } }));

  it("is an address of IPv4, and a subscriber's network of IPv6", () => {
    expect(source()).toBe("");
    expect(source("203.0.113.7")).toBe("203.0.113.7");
    const network = source("2001:db8:0:7::1");
    for (const same of ["2001:DB8:0:7:ffff:1:2:3", "2001:0db8:0000:0007::", "2001:db8::7:0:0:0:9"])
      expect(source(same), same).toBe(network);
    for (const other of ["2001:db8:0:8::1", "2001:db8::1", "::1"]) expect(source(other), other).not.toBe(network);
  });
});
