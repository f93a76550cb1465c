/** The headers of signed requests, and signatures that prove nothing: wrong in themselves, or by their agent's keys. */
import { type AgentKeyPair, signed, type Signing } from '../support/signed-request.ts';
import { draftVectors } from '../unit/bots/signatures/draft-vectors.ts';
import { stackNow } from '../support/clock.ts';

export type HeaderChange = (headers: Headers) => void;
type Wrong = [what: string, signing: Partial<Signing>, change?: HeaderChange];

export async function signedHeaders(
  pair: AgentKeyPair,
  signing: Signing,
  change?: HeaderChange,
): Promise<Record<string, string>> {
  const { headers } = await signed(pair, signing);
  change?.(headers);
  const names = ['signature', 'signature-input', 'signature-agent'].filter((name) => headers.has(name));
  return Object.fromEntries(names.map((name) => [name, headers.get(name) ?? '']));
}

const keyed = (key: string) => ({ name: 'signature-agent', parameters: { key } });

/** Of requests to an edge. `liar.test`, `moved.test`, `slow.test` and `crowd.test` are directories that are not right. */
export function wrongSignatures(edgeUrl: string): Wrong[] {
  const edit =
    (name: string, from: string | RegExp, to: string): HeaderChange =>
    (headers) =>
      headers.set(name, headers.get(name)!.replace(from, to));
  const many = (of: (index: number) => string): string => Array.from({ length: 100 }, (_, index) => of(index)).join('');
  const wrong: Wrong[] = [
    ['expired', { nowMs: stackNow() - 600_000 }],
    ['from the future', { nowMs: stackNow() + 600_000 }],
    ['lives too long', { lifetimeSeconds: 86_401 }],
    ['for another host', { url: 'https://shop.example/echo' }],
    ['for another path', { url: `${edgeUrl}/other`, components: ['@authority', '@path', keyed('sig1')] }],
    ['a label twice', {}, edit('signature-input', /^.*$/, '$&, $&')],
    ['bytes twice', {}, edit('signature', /^.*$/, '$&, $&')],
    ['an agent twice', {}, edit('signature-agent', /^.*$/, '$&, $&')],
    ['an unknown component', {}, edit('signature-input', '"@authority"', '"@authority" "@body"')],
    [
      'a hundred labels',
      {},
      edit(
        'signature-input',
        /$/,
        many((index) => `, l${index}=()`),
      ),
    ],
    [
      'a dictionary longer than any',
      {},
      edit(
        'signature-agent',
        /$/,
        many((index) => `, a${index}="https://a${index}.${'x'.repeat(40)}.test"`),
      ),
    ],
    ['a long signature', {}, (headers) => headers.set('signature', `sig1=:${'A'.repeat(5000)}:`)],
    ['another key by name', { parameters: { keyid: 'A'.repeat(43) } }],
    ['without an agent', { agent: null, components: ['@authority'] }],
    ['another agent’s key', { agent: 'sig1="https://other.test"' }],
    ['a directory that lies about kid', { agent: 'sig1="https://liar.test"' }],
    ['a directory that redirects', { agent: 'sig1="https://moved.test"' }],
    ['a directory that stalls', { agent: 'sig1="https://slow.test"' }],
    ['a directory of 10,000 keys', { agent: 'sig1="https://crowd.test"' }],
  ];
  for (const { agent, input, signature } of draftVectors) {
    wrong.push([
      'a vector of the draft',
      {},
      (headers) => {
        headers.set('signature-agent', agent);
        headers.set('signature-input', input);
        headers.set('signature', signature);
      },
    ]);
  }
  return wrong;
}
