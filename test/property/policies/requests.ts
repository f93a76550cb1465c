/** Generated requests, of the values that generated conditions compare with, and of others. */
import type { PolicyRequest } from '../../../src/policies/request.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import type { BotProof, DeviceType, IpCategory, PathType, SessionStatus } from '../../../src/contract/vocabulary.ts';
import type { Random } from '../rules/random.ts';
import { words } from './expressions.ts';

/** As a visitor sends them: the same name twice, escapes of every kind, quotes. */
const pairs = {
  query: [
    'sid=a',
    'lang=ab',
    'q=a+b',
    'q=%41',
    'x-a=%E9',
    'q=%C3%A9',
    'x%2Da=abc',
    'sid',
    'lang=',
    'q=%zz',
    'other=a',
    '=a',
    'sid=%F0%9F%98%80',
    'q=a*b',
  ],
  cookie: [
    'sid=a',
    'sid="ab"',
    'lang=yes',
    'q = abc',
    'x-a=a,b',
    'sid',
    'lang=',
    'other=a',
    '=a',
    'q="',
    'X-A=A',
    'sid=a=b',
  ],
};
const paths = [
  ...words.path,
  '/%61pi',
  '/api/v1/users?x',
  '/api//v1/users',
  '/api%2Fv1%2Fusers',
  '/API/v1/users',
  '/login;x=1',
  '/a%20b',
  '/%C3%A4',
  '/img/../api',
  '/a%20',
  '/x',
];
const userAgents = [...words.userAgent, 'CURL/8.5.0', 'MOZILLA', 'é ΣΑΣ'];

export function randomRequest(random: Random): PolicyRequest {
  const maybe = <T>(values: readonly T[]): T | null => (random.below(4) === 0 ? null : random.pick(values));
  const some = <T>(values: readonly T[]): T[] => Array.from({ length: random.below(4) }, () => random.pick(values));
  const target = canonicalTarget(`https://shop.example${random.pick(paths)}`);
  if (target === null) throw new Error('no path');
  const query = some(pairs.query).join('&');
  const cookies = some(pairs.cookie);
  const headers = new Map(some(words.name).map((name) => [name.toLowerCase(), random.pick(words.text)]));
  const bot = maybe(words.bot);
  return {
    host: random.pick(words.host),
    method: random.pick(words.method),
    paths: target.readings && [target.path, ...target.readings],
    query: query === '' ? '' : `?${query}`,
    headers: {
      get: (name) => headers.get(name) ?? null,
      forEach: (visit) => {
        for (const [name, value] of headers) visit(value, name);
      },
    },
    cookie: cookies.length === 0 ? null : cookies.join(random.pick(['; ', ';', ', '])),
    ip: maybe(words.ip),
    asn: maybe([0, 64_500, 3320, 7]),
    country: maybe(words.country),
    ja4: maybe(words.ja4),
    userAgent: random.pick(userAgents),
    deviceType: random.pick<DeviceType>(words.deviceType),
    bot:
      bot === null
        ? null
        : { id: bot, behaviours: some(words.behaviour), proof: random.pick<BotProof>([...words.proof, 'impostor']) },
    agent: maybe(words.agent),
    ipCategories: some<IpCategory>(words.ipCategory),
    sessionStatus: random.pick<SessionStatus>(words.sessionStatus),
    riskScore: maybe([0, 0.3, 0.5, 0.6, 1]),
    pathType: random.pick<PathType>(words.pathType),
  };
}
