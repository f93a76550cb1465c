/** The address of an agent: where its keys are, and one spelling for one key set. */
import { describe, expect, test } from 'vitest';
import { DIRECTORY_PATH, agentAddress } from '../../../../src/bots/signatures/agent-address.ts';
import { expectRows } from '../../../support/rows.ts';

const wellKnown = `https://agent.test${DIRECTORY_PATH}`;

describe('an address', () => {
  test('names one key set in one spelling', () =>
    expectRows(
      [
        ['https://agent.test', wellKnown],
        ['https://agent.test/', wellKnown],
        ['HTTPS://Agent.Test:443', wellKnown],
        ['https://agent.test/?v=1', wellKnown],
        [wellKnown, wellKnown],
        ['https://agent.test/a/../jwks.json', 'https://agent.test/jwks.json'],
        ['https://agent.test/%7ebot/%6A%2fk', 'https://agent.test/~bot/j%2Fk'],
        ['https://agent.test:8443/k', 'https://agent.test:8443/k'],
      ],
      ([value, expected]) => {
        expect(agentAddress(value)).toEqual({ directory: expected, agent: expected });
      },
    ));

  test('is fetched with its query and called without it', () => {
    expect(agentAddress('https://agent.test/k?v=2')).toEqual({
      directory: 'https://agent.test/k?v=2',
      agent: 'https://agent.test/k',
    });
  });

  test('anything else is none', () =>
    expectRows(
      [
        'http://agent.test',
        'agent.test',
        '//agent.test',
        'https://',
        'https://user@agent.test',
        'https://agent.test/#keys',
        'https://agent.test/a b',
        'https://agent.test/\tk',
        'https://ägent.test',
        'data:application/json,{}',
        `https://agent.test/${'a'.repeat(600)}`,
      ],
      (value) => {
        expect(agentAddress(value)).toBeNull();
      },
    ));
});
