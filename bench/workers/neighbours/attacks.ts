/** What somebody sends from their addresses of a network, one request at a time, at a rate. */
import { personsHeaders } from '../../../test/support/session.ts';
import type { SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import type { AttackName } from '../../neighbours/plan.ts';
import { GateClient, type Gate } from './gate-client.ts';
import { answerTo } from './newcomer.ts';

export interface Attacker {
  gate: Gate;
  /** The attacker's addresses in turn. */
  ip: (request: number) => string;
  /** Squarings that the attacker has solved. */
  solved: number;
  /** The cookies of the attacker's own session, as a `Cookie` header. */
  cookies: string;
}

export interface Attack {
  perSecond: number;
  /** Each newcomer comes with the cookies of the attacker's session. */
  isPlanted?: true;
  send(attacker: Attacker, request: number): Promise<{ status: number }>;
}

const at = ({ gate, ip }: Attacker, request: number, cookies = ''): GateClient =>
  new GateClient(gate, ip(request), cookies);

const asPicture = { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors', accept: 'image/*' };
/** Another browser than the newcomers have. */
const asAnother = { 'user-agent': personsHeaders['user-agent'].replace('Chrome/153', 'Chrome/152') };
const asCurl = { 'user-agent': 'curl/8.5.0', accept: '*/*' };

async function openedSession(attacker: Attacker, client: GateClient): Promise<{ status: number }> {
  let answer = await client.call('session', {});
  while (typeof answer.body['challenge'] === 'string') {
    const asked = answer.body as SessionChallenge;
    attacker.solved += asked.pow.t ?? 0;
    answer = await client.call('session', answerTo(asked));
  }
  return answer;
}

const posts = ['telemetry', 'session', 'challenge'];

export const attacks: Readonly<Record<AttackName, Attack>> = {
  posts: {
    perSecond: 120,
    send: (attacker, request) => at(attacker, request).call(posts[request % posts.length]!, {}),
  },
  pages: {
    perSecond: 50,
    send: (attacker, request) => at(attacker, request).open('/'),
  },
  asked: {
    perSecond: 10,
    send: (attacker, request) =>
      request % 2 === 0
        ? at(attacker, request).call('session', {})
        : at(attacker, request).call('challenge', { action: 'clearance' }),
  },
  solved: {
    perSecond: 2,
    send: (attacker, request) => openedSession(attacker, at(attacker, request)),
  },
  refused: {
    perSecond: 120,
    send: (attacker, request) => at(attacker, request).open('/', asCurl),
  },
  cookies: {
    perSecond: 5,
    isPlanted: true,
    send: async (attacker, request) => {
      const client = new GateClient(attacker.gate, attacker.ip(request), attacker.cookies, asAnother);
      if (attacker.cookies !== '') return request % 2 === 0 ? client.call('session', {}) : client.open('/');
      const opened = await openedSession(attacker, client);
      attacker.cookies = client.cookies;
      return opened;
    },
  },
  wrong: {
    perSecond: 5,
    send: async (attacker, request) => {
      const client = at(attacker, request);
      const { status, body } = await client.call('challenge', { action: 'contact' });
      if (status !== 200) return { status };
      return client.call('solution', { challenge: body['challenge'], solution: { y: 'AAAA' } });
    },
  },
  files: {
    perSecond: 50,
    send: (attacker, request) =>
      request % 2 === 0 ? at(attacker, request).open('/', asPicture) : at(attacker, request).open('/api/time'),
  },
};
