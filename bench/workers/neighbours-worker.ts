/**
 * The Worker of `npm run bench -- neighbours`: the real edge in simulated time, an origin, and everybody who calls the
 * edge. The service is a Worker of its own (`clocked-service-worker.ts`), which is told the time with each call. A run is one
 * request, because no promise of the edge outlives the request that made it.
 */
import edge from '../../src/edge/index.ts';
import type { NeighboursPlan, NeighboursResult, Visit } from '../neighbours/plan.ts';
import { attacks, type Attack, type Attacker } from './neighbours/attacks.ts';
import { GateClient, type Gate } from './neighbours/gate-client.ts';
import { newcomer } from './neighbours/newcomer.ts';
import { SERVICE_TIME, VirtualTime } from './neighbours/virtual-time.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Addresses of a /24, and /64s of a /56. */
const HOSTS = 256;

let time: VirtualTime | null = null;

export default {
  async fetch(request: Request, env: Record<string, string>): Promise<Response> {
    const plan: NeighboursPlan = await request.json();
    // An hour after the run before: what that one used up is over.
    time ??= new VirtualTime(Date.now());
    await time.moveTo(time.nowMs + HOUR_MS);
    return Response.json(await run(plan, env, time));
  },
};

async function run(plan: NeighboursPlan, vars: Record<string, string>, clock: VirtualTime): Promise<NeighboursResult> {
  const gate = gateIn(clock, vars);
  // The first request of an isolate loads config and rules.
  await new GateClient(gate, '192.0.2.1').call('telemetry', {});
  const attack: Attack | null = plan.attack && attacks[plan.attack];
  const attacker: Attacker = {
    gate,
    ip: (sent) => ipOf(plan, HOSTS - 1 - (sent % plan.attackers)),
    solved: 0,
    cookies: '',
  };
  const result: NeighboursResult = { sent: 0, statuses: {}, solved: 0, visits: [] };
  const startMs = clock.nowMs;
  const waiting = [...newcomers(plan, gate, startMs, result, () => (attack?.isPlanted ? attacker.cookies : ''))];
  if (attack) waiting.push({ atMs: startMs, steps: attackSteps(attack, attacker, plan.seconds, result) });
  for (;;) {
    const next = waiting.reduce<Actor | null>(
      (first, actor) => (first && first.atMs <= actor.atMs ? first : actor),
      null,
    );
    if (next === null) break;
    await clock.moveTo(next.atMs);
    const { done, value } = await next.steps.next();
    if (done) waiting.splice(waiting.indexOf(next), 1);
    else next.atMs += value;
  }
  // The rest of the log.
  await clock.moveTo(clock.nowMs + MINUTE_MS);
  clock.forgetTimers();
  return { ...result, solved: attacker.solved };
}

interface Actor {
  atMs: number;
  steps: AsyncIterator<number, unknown>;
}

function* newcomers(
  plan: NeighboursPlan,
  gate: Gate,
  startMs: number,
  { visits }: NeighboursResult,
  planted: () => string,
): Generator<Actor> {
  for (let index = 0; index < plan.newcomers; index++) {
    const visit: Visit = { refused: null, sessionPrice: 0, formPrice: 0 };
    visits.push(visit);
    const client = new GateClient(gate, ipOf(plan, index % plan.addresses));
    const atMs = startMs + ((index + 0.5) / plan.newcomers) * plan.seconds * 1000;
    yield { atMs, steps: newcomer(client, visit, planted) };
  }
}

async function* attackSteps(
  attack: Attack,
  attacker: Attacker,
  seconds: number,
  result: NeighboursResult,
): AsyncGenerator<number> {
  for (; result.sent < attack.perSecond * seconds; result.sent++) {
    const { status } = await attack.send(attacker, result.sent);
    result.statuses[status] = (result.statuses[status] ?? 0) + 1;
    yield 1000 / attack.perSecond;
  }
}

/** Networks of different runs have nothing in common, not even a /16 or a /48. */
function ipOf({ family, network }: NeighboursPlan, host: number): string {
  if (family === 4) return `${11 + (network >> 8)}.${network & 255}.7.${host}`;
  return `2a02:${network.toString(16)}:7:${(0x4500 + host).toString(16)}::1`;
}

/** A gate with an empty memory. */
function gateIn(clock: VirtualTime, vars: Record<string, string>): Gate {
  const service = {
    fetch: (input: Request | string, init?: RequestInit): Promise<Response> => {
      const call = new Request(input, init);
      call.headers.set(SERVICE_TIME, String(clock.nowMs));
      return clock.tracked(fetch(call));
    },
  };
  const env = { ...vars, SERVICE: service, ORIGIN: { fetch: originResponse } };
  const context = { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext;
  return { fetch: (request) => edge.fetch(request, env, context), signalsSecret: vars['SIGNALS_SECRET'] ?? '' };
}

async function originResponse(input: Request | string): Promise<Response> {
  const { pathname } = new URL(typeof input === 'string' ? input : input.url);
  if (pathname.startsWith('/api/')) return Response.json({ ok: true });
  return new Response('<!doctype html><html><head><title>Shop</title></head><body>Hello</body></html>', {
    headers: { 'content-type': 'text/html' },
  });
}
