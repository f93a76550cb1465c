/**
 * Generated conditions. Their values come from small sets that the generated requests (`requests.ts`) share, so that many
 * tests hold, and from texts that are hard to quote.
 */
import * as fc from 'fast-check';
import type { Expression, PolicyTest } from '../../../src/policies/expression.ts';

type Value = NonNullable<PolicyTest['value']>;

export const words = {
  host: ['shop.example', 'api.shop.example', 'shop.example:8443'],
  path: ['/', '/api', '/api/v1/users', '/API', '/login', '/a b', '/img/logo.png', '/api/', '/ä', '/.git', '/a '],
  method: ['GET', 'POST', 'DELETE'],
  text: ['', 'a', 'ab', 'A', 'abc', 'yes', 'a b', 'é', '"', '\\', '\u007f', '\u2028', '*', 'a*b', '😀'],
  name: ['sid', 'x-a', 'X-A', 'lang', 'q'],
  ip: ['192.0.2.1', '192.0.2.200', '198.51.100.7', '2001:db8::1', '2001:db8:0:1::9'],
  network: ['192.0.2.0/24', '192.0.2.128/25', '0.0.0.0/0', '2001:db8::/48', '2001:db8::1', '::/0'],
  country: ['DE', 'AT', 'US', 'T1'],
  ja4: ['t13d1516h2_8daaf6152771_02713d6af862', 't13d190900_9dc949149365_97f8aa674fd9'],
  userAgent: ['Mozilla/5.0 Firefox/140.0', 'curl/8.5.0', 'Googlebot/2.1', ''],
  deviceType: ['desktop', 'mobile', 'tablet', 'bot', 'unknown'],
  bot: ['googlebot', 'gptbot'],
  behaviour: ['search', 'training', 'agent'],
  proof: ['range', 'dns', 'claimed'],
  agent: ['suspected'],
  ipCategory: ['tor', 'datacenter', 'vpn'],
  sessionStatus: ['active', 'none', 'no-session'],
  pathType: ['html', 'json'],
} as const;

export const numbers = { asn: [0, 64_500, 3320, 4_294_967_295], riskScore: [0, 0.3, 0.5, 0.55, 1] } as const;

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);

function listOf<T extends Value & (string | number)>(value: fc.Arbitrary<T>): fc.Arbitrary<Value> {
  return fc.array<string | number>(value, { minLength: 1, maxLength: 4 }) as fc.Arbitrary<Value>;
}

/** Whole values, parts of them, and patterns of them. */
function textTest(
  field: PolicyTest['field'],
  values: readonly string[],
  names?: readonly string[],
): fc.Arbitrary<PolicyTest> {
  const whole = oneOf(values);
  const part = fc
    .tuple(oneOf(values), fc.nat(6), fc.nat(9))
    .map(([text, from, length]) =>
      Array.from(text)
        .slice(from, from + length + 1)
        .join(''),
    )
    .filter((text) => text !== '');
  const start =
    field === 'path' ? oneOf(['/', '/.', '/a', '/a ', '/api', '/API/', '/*', '/**', '/api/*', '/**/users', '*']) : part;
  const pattern =
    field === 'path'
      ? // A pattern without a wildcard is a whole path, and the whole path `/.` is `/`.
        start.map((text) => (text === '/.' ? '/.*' : text))
      : fc.array(fc.oneof(part, oneOf(['*', '**'])), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  const named = names === undefined ? fc.constant({}) : oneOf(names).map((name) => ({ name }));
  const compared = fc.oneof(
    whole.map((value) => ({ operator: 'equals' as const, value })),
    listOf(whole).map((value) => ({ operator: 'in' as const, value })),
    start.map((value) => ({ operator: 'startsWith' as const, value })),
    part.map((value) => ({ operator: 'endsWith' as const, value })),
    part.map((value) => ({ operator: 'contains' as const, value })),
    pattern.map((value) => ({ operator: 'matches' as const, value })),
    fc.constant({ operator: 'exists' as const }),
  );
  return fc.tuple(named, compared).map(([name, rest]) => ({ field, ...name, ...rest }));
}

function wordTest(field: PolicyTest['field'], values: readonly string[], name?: string): fc.Arbitrary<PolicyTest> {
  const named = name === undefined ? {} : { name };
  return fc.oneof(
    oneOf(values).map((value): PolicyTest => ({ field, ...named, operator: 'equals', value })),
    listOf(oneOf(values)).map((value): PolicyTest => ({ field, ...named, operator: 'in', value })),
    fc.constant<PolicyTest>({ field, ...named, operator: 'exists' }),
  );
}

function numberTest(field: 'asn' | 'riskScore'): fc.Arbitrary<PolicyTest> {
  const value = oneOf<number>(numbers[field]);
  return fc.oneof(
    value.map((one): PolicyTest => ({ field, operator: 'equals', value: one })),
    value.map((one): PolicyTest => ({ field, operator: 'greaterThan', value: one })),
    listOf(value).map((list): PolicyTest => ({ field, operator: 'in', value: list })),
    fc.constant<PolicyTest>({ field, operator: 'exists' }),
  );
}

export const anyTest: fc.Arbitrary<PolicyTest> = fc.oneof(
  textTest('host', words.host),
  textTest('path', words.path),
  textTest('method', words.method).filter(({ operator }) => operator !== 'matches'),
  textTest('query', words.text, words.name),
  textTest('header', words.text, words.name),
  textTest('cookie', words.text, words.name),
  textTest('country', words.country),
  textTest('ja4', words.ja4),
  textTest('userAgent', words.userAgent),
  textTest('deviceType', words.deviceType),
  textTest('sessionStatus', words.sessionStatus),
  textTest('pathType', words.pathType),
  wordTest('ip', words.ip),
  listOf(oneOf(words.network)).map((value): PolicyTest => ({ field: 'ip', operator: 'ipIn', value })),
  wordTest('bot', words.bot),
  wordTest('bot', words.behaviour, 'behaviour'),
  wordTest('bot', words.proof, 'proof'),
  wordTest('agent', words.agent),
  wordTest('ipCategory', words.ipCategory),
  numberTest('asn'),
  numberTest('riskScore'),
);

/** Also groups of one, groups inside groups of their kind, and `not` upon `not`. */
export const anyExpression: fc.Arbitrary<Expression> = fc.letrec<{ node: Expression }>((tie) => {
  const parts = fc.array(tie('node'), { minLength: 1, maxLength: 4 });
  return {
    node: fc.oneof(
      { maxDepth: 5, depthSize: 'small', withCrossShrink: true },
      anyTest,
      parts.map((and): Expression => ({ and })),
      parts.map((or): Expression => ({ or })),
      tie('node').map((not): Expression => ({ not })),
    ),
  };
}).node;
