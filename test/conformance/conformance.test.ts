// A stack of its own: its service has facts about an address that a clause names.
/**
 * The HTTP interface, clause by clause, against one running service: every endpoint, field, limit, rejection and silent
 * behaviour that a client may rely on. README.md shows how to add a clause.
 */
import { describe, expect, test } from 'vitest';
import { useOwnStack } from '../support/stack.ts';
import { accessControl } from './clauses/access-control.ts';
import { apiKeys } from './clauses/api-keys.ts';
import { audit } from './clauses/audit.ts';
import { authentication } from './clauses/authentication.ts';
import { protect } from './clauses/protect.ts';
import { requests } from './clauses/requests.ts';
import { sites } from './clauses/sites.ts';
import { traffic } from './clauses/traffic.ts';
import { users } from './clauses/users.ts';
import { verdictLog } from './clauses/verdict-log.ts';
import { ABUSED_IP, verification } from './clauses/verification.ts';
import { endpoints } from './endpoints.ts';
import { type Clause, Service } from './service.ts';

/** The operator's dataset, with facts about one address that a clause names. */
const serviceVars = { ADDRESS_FACTS: JSON.stringify({ [`${ABUSED_IP}/32`]: { abuseScore: 0.9 } }) };
const service = new Service(useOwnStack({ serviceVars }));

describe.each<[string, readonly Clause[]]>([
  ['verification', verification],
  ['authentication', authentication],
  ['requests and errors', requests],
  ['sites', sites],
  ['access control rules', accessControl],
  ['traffic', traffic],
  ['audit records', audit],
  ['users', users],
  ['API keys', apiKeys],
  ['Protect instances and rules', protect],
  ['the verdict log', verdictLog],
])('%s', (_, clauses) => {
  const titled = clauses.map((clause) => [`${clause.kind}: ${clause.says}`, clause] as const);
  test.concurrent.each(titled)('%s', (_title, clause) => clause.holds(service));
});

test('the clauses have called every endpoint with success', () => {
  const expected = ['POST /siteverify', ...endpoints.map(({ method, path }) => `${method} ${path}`)];
  expect([...service.reached]).toEqual(expect.arrayContaining(expected));
});
